// One page: the program and the style go into index.html, and the page to where the
// library reads it, with a fingerprint of these sources that a test compares.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const PAGE = new URL('../src/graphfold/views/page.html', import.meta.url);
const here = (path) => new URL(path, import.meta.url);

function fingerprint() {
  const names = ['index.html', 'package.json', 'package-lock.json', 'vite.config.js'];
  for (const name of readdirSync(here('src')).sort()) names.push(`src/${name}`);
  const hash = createHash('sha256');
  for (const name of names) hash.update(readFileSync(here(name)));
  return hash.digest('hex');
}

const onePage = {
  name: 'one-page',
  enforce: 'post',
  writeBundle(_, bundle) {
    const parts = Object.values(bundle);
    const program = parts.find((part) => part.type === 'chunk').code;
    const style = parts.find((part) => part.fileName.endsWith('.css')).source;
    // "</script" must not end the element that holds the program
    const safe = program.trim().replaceAll('</script', '<\\/script');
    const licences = readFileSync(here('licences.txt'), 'utf8').trim();
    const page = readFileSync(here('index.html'), 'utf8')
      .replace('<!-- style -->', () => `<style>${style.trim()}</style>`)
      .replace('<!-- program -->', () => `<script type="module">${safe}</script>`)
      .replace('<head>', () => `<!--\n${licences}\n-->\n<head>`)
      .replace('</head>', () => `<meta name="sources" content="${fingerprint()}">\n</head>`);
    writeFileSync(PAGE, page);
  },
};

export default defineConfig({
  build: {
    rollupOptions: { input: 'src/main.js' },
    modulePreload: false,
    outDir: 'dist',
    cssCodeSplit: false,
    target: 'es2022',
    minify: true,
  },
  // its build without checks of its callers: smaller, and quicker to start
  resolve: { alias: { regl: 'regl/dist/regl.unchecked.js' } },
  plugins: [onePage],
});
