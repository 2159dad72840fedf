/**
 * Loaded into every test process before the test. Tap tracks each promise from creation to
 * collection, to report an unhandled error in the test that caused it. That takes a third of the
 * time of these tests. This module switches it off: an unhandled error ends the process, and the
 * file fails.
 */
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const inert = {
  enable: () => inert,
  disable: () => inert,
}
asyncHooks.createHook = () => inert
syncBuiltinESMExports()
