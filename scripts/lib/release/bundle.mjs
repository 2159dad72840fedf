import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { withoutNativeUnpacking } from './without-native-unpacking.mjs'

/** Dependencies of CommonJS packages are required at run time, also from ES modules. */
const banners = {
  esm: "import { createRequire as shardlabCreateRequire } from 'node:module'; const require = shardlabCreateRequire(import.meta.url);",
  cjs: "const shardlabModuleUrl = require('node:url').pathToFileURL(__filename).href;",
}

/**
 * Bundles our packages and those that are not external, into one folder without subfolders.
 * `renamed`: packages of ours that stay imports, with their published names. `places`: where files
 * are that the code opens, from the folder, if not under their names in it. `stdin`, `outfile`: one
 * entry without a file. `isMinified`: identifiers stay as they are, for stack traces.
 * @returns {Promise<string[]>} the paths, relative to the folder, that the code opens at run time
 */
export async function bundle({
  format,
  outdir,
  external,
  entryPoints,
  renamed = {},
  places = {},
  stdin,
  outfile,
  isMinified = false,
}) {
  const assets = new Set()
  await build({
    ...(stdin === undefined ? { entryPoints, outdir } : { stdin, outfile: join(outdir, outfile) }),
    external,
    format,
    outExtension: { '.js': format === 'esm' ? '.js' : '.cjs' },
    minifyWhitespace: isMinified,
    minifySyntax: isMinified,
    charset: 'ascii',
    bundle: true,
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: banners[format] },
    // Commands load what they need; Jest's own module loader has no import().
    ...(format === 'esm'
      ? { splitting: true, chunkNames: 'chunk-[hash]' }
      : { supported: { 'dynamic-import': false }, define: { 'import.meta.url': 'shardlabModuleUrl' } }),
    plugins: [
      flatUrls(assets, { 'package.json': '../package.json', ...places }),
      renamedImports(renamed),
      withoutNativeUnpacking,
    ],
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
const flatUrls = (assets, places) => ({
  name: 'flat-urls',
  setup({ onLoad }) {
    onLoad({ filter: /packages[\\/][\w-]+[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.url')) return null
      const flat = (target) => {
        const name = basename(target)
        const asset = places[name] ?? `./${name}`
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
