import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { build } from 'esbuild'

/** Dependencies of CommonJS packages are required at run time, also from ES modules. */
const banners = {
  esm: "import { createRequire as shardlabCreateRequire } from 'node:module'; const require = shardlabCreateRequire(import.meta.url);",
  cjs: "const shardlabModuleUrl = require('node:url').pathToFileURL(__filename).href;",
}

/**
 * Bundles our packages and those that are not external, into one folder without subfolders.
 * `renamed`: packages of ours that stay imports, with their published names.
 * @returns {Promise<string[]>} the paths, relative to the folder, that the code opens at run time
 */
export async function bundle({ format, outdir, external, entryPoints, renamed = {} }) {
  const assets = new Set()
  await build({
    entryPoints,
    outdir,
    external,
    format,
    outExtension: { '.js': format === 'esm' ? '.js' : '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    keepNames: true,
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: banners[format] },
    // Commands load what they need; Jest's own module loader has no import().
    ...(format === 'esm'
      ? { splitting: true, chunkNames: 'chunk-[hash]' }
      : { supported: { 'dynamic-import': false }, define: { 'import.meta.url': 'shardlabModuleUrl' } }),
    plugins: [flatUrls(assets), renamedImports(renamed)],
  })
  return [...assets]
}

const renamedImports = (renamed) => ({
  name: 'renamed-imports',
  setup({ onResolve }) {
    onResolve({ filter: /^@shardlab\// }, ({ path }) =>
      renamed[path] === undefined ? null : { path: renamed[path], external: true },
    )
  },
})

/** All files are in one folder: `new URL('../workers/entry.js', …)` becomes `./entry.js`. */
const flatUrls = (assets) => ({
  name: 'flat-urls',
  setup({ onLoad }) {
    onLoad({ filter: /packages[\\/][\w-]+[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.url')) return null
      const flat = (target) => {
        const asset = target.endsWith('/package.json') ? '../package.json' : `./${basename(target)}`
        assets.add(asset)
        return asset
      }
      const contents = text
        .replace(
          /new URL\('([^']+)', import\.meta\.url\)/g,
          (_, target) => `new URL('${flat(target)}', import.meta.url)`,
        )
        .replace(
          /createRequire\(import\.meta\.url\)\('(\.[^']+)'\)/g,
          (_, target) => `createRequire(import.meta.url)('${flat(target)}')`,
        )
        .replace(/join\(here, '([^']+)'\)/g, (_, target) => `join(here, '${flat(target)}')`)
      return { contents, loader: 'js' }
    })
  },
})
