/**
 * Loads a part of the program. V8 compiles a script with a code cache in a fraction of the time;
 * with another version of Node.js, or other flags, it refuses the cache and compiles the source.
 */
'use strict'
const { existsSync, readFileSync } = require('node:fs')
const { createRequire, wrap } = require('node:module')
const path = require('node:path')
const { runInThisContext, Script } = require('node:vm')

const filename = path.join(__dirname, 'program.cjs')
const cachePath = path.join(__dirname, 'program.cache')

/** @type {Record<string, () => object> | null} */
let program = null
/** @type {Script | null} */
let script = null

function evaluate() {
  // A test runner that gives each file its own globals expects its modules to use them.
  if (runInThisContext('Object') !== Object) return require('./program.cjs')
  const cache = existsSync(cachePath) ? { cachedData: readFileSync(cachePath) } : {}
  // latin1 suffices: esbuild writes ASCII.
  script = new Script(wrap(readFileSync(filename, 'latin1')), { filename, ...cache })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, path.dirname(filename))
  return module.exports
}

/** @param {'api' | 'up' | 'server'} part */
module.exports = (part) => (program ??= evaluate())[part]()
/** What has been compiled until now. */
module.exports.createCachedData = () => script.createCachedData()
