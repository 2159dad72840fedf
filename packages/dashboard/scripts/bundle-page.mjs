/** Writes dist/page/dashboard.html and report.html: each page with its script and style inside. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const bytesMax = 300 * 1024
const url = (path) => new URL(path, import.meta.url)

const style = await bundled('../src/page/style.css', {})
mkdirSync(url('../dist/page'), { recursive: true })
await writePage('dashboard.html', '../dist/src/page/main.js')
await writePage('report.html', '../dist/src/page/report/report-main.js')

async function writePage(name, entry) {
  const options = { format: 'iife', target: 'es2022', charset: 'ascii' }
  const script = (await bundled(entry, options)).replaceAll('</script', '<\\/script')
  const html = readFileSync(url(`../src/page/${name}`), 'utf8')
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace('<script></script>', () => `<script>${script}</script>`)
  if (html.length > bytesMax) throw new Error(`${name} has ${html.length} bytes, more than ${bytesMax}`)
  writeFileSync(url(`../dist/page/${name}`), html)
}

async function bundled(entry, options) {
  const common = { bundle: true, minify: true, legalComments: 'none', write: false }
  const { outputFiles } = await build({ entryPoints: [url(entry).pathname], ...common, ...options })
  return outputFiles[0].text.trim()
}
