/**
 * Loads the program, and returns one of its parts. The release bundles this file with what it
 * requires, because each start waits for it.
 */
'use strict'
const { createRequire, wrap } = require('node:module')
const path = require('node:path')
const { runInThisContext } = require('node:vm')
const { cachedScript } = require('../../../packages/cluster/dist/src/workers/cached-script.js')

const filename = path.join(__dirname, 'program.cjs')
const cachePath = path.join(__dirname, 'program.cache')

/** @type {Record<string, () => object> | null} */
let program = null
/** @type {import('node:vm').Script | null} */
let script = null

function evaluate() {
  // A test runner that gives each file its own globals expects its modules to use them.
  if (runInThisContext('Object') !== Object) return require('./program.cjs')
  script = cachedScript(filename, cachePath, wrap)
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, path.dirname(filename))
  return module.exports
}

/** @param {'api' | 'up' | 'connecting' | 'server'} part */
module.exports = (part) => (program ??= evaluate())[part]()
/** What has been compiled until now. */
module.exports.createCachedData = () => script.createCachedData()
