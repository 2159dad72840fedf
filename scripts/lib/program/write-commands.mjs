/**
 * All commands of the CLI as ES modules that share chunks, with the files from which their workers
 * start. Loading the 2,000 modules one by one takes a second. `write-program.mjs` adds the page of
 * the dashboard.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../release/bundle.mjs'
import { root } from '../workspace.mjs'

const built = (path) => join(root, 'packages', path)

/**
 * @param outdir may have other files
 * @param places as of `bundle`
 * @returns {Promise<string[]>} the paths, relative to the folder, that the code opens at run time
 */
export async function writeCommands({ outdir, external, places = {} }) {
  const assets = await bundle({
    ...{ format: 'esm', outdir, external, places },
    entryPoints: {
      cli: built('shardlab/dist/src/cli.js'),
      // Workers are started from files of their own, next to the code that starts them.
      entry: built('cluster/dist/src/workers/entry.js'),
      'lane.worker': built('load/dist/src/run/lane.worker.js'),
      'generator.worker': built('shardlab/dist/src/jobs/generator.worker.js'),
      'swarm.worker': built('scenario/dist/src/swarm/swarm.worker.js'),
      'variant.worker': built('scenario/dist/src/run/variant.worker.js'),
    },
  })
  cpSync(built('dashboard/dist/page/report.html'), join(outdir, 'report.html'))
  return assets
}
