/** Puts the page into one file, dist/page/dashboard.html: script and style inside. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const bytesMax = 300 * 1024
const url = (path) => new URL(path, import.meta.url)

const { outputFiles } = await build({
  entryPoints: [url('../dist/src/page/main.js').pathname],
  bundle: true,
  format: 'iife',
  minify: true,
  target: 'es2022',
  charset: 'ascii',
  legalComments: 'none',
  write: false,
})
const style = await build({
  entryPoints: [url('../src/page/style.css').pathname],
  bundle: true,
  minify: true,
  legalComments: 'none',
  write: false,
})
const script = outputFiles[0].text.replaceAll('</script', '<\\/script').trim()
const html = readFileSync(url('../src/page/dashboard.html'), 'utf8')
  .replace('<style></style>', () => `<style>${style.outputFiles[0].text.trim()}</style>`)
  .replace('<script></script>', () => `<script>${script}</script>`)
if (html.length > bytesMax) throw new Error(`the page has ${html.length} bytes, more than ${bytesMax}`)
mkdirSync(url('../dist/page'), { recursive: true })
writeFileSync(url('../dist/page/dashboard.html'), html)
