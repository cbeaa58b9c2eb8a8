export function renderReport(element) { element.textContent = ''; }
