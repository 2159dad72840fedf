/**
 * `node write-cache.cjs FOLDER`: writes the code cache of the program in the folder, after a cluster
 * has started, so that it has the functions that a start calls.
 */
'use strict'
const { rmSync, writeFileSync } = require('node:fs')
const path = require('node:path')

async function main(folder) {
  const cache = path.join(folder, 'program.cache')
  rmSync(cache, { force: true })
  const load = require(path.join(folder, 'load.cjs'))
  load('up')
  load('connecting')
  load('server')
  const { ShardedCluster } = load('api')
  const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline' })
  await cluster.stop()
  writeFileSync(cache, load.createCachedData())
}

void main(process.argv[2])
