/**
 * Loaded into every test process before the test. tap follows each promise from its making to its collection, so that an error that
 * nobody handles is told of the test in which it arose. That costs these tests, which are made of promises, a third of their time.
 * Without it such an error ends the process, and the file fails.
 */
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const inert = {
  enable: () => inert,
  disable: () => inert,
}
asyncHooks.createHook = () => inert
syncBuiltinESMExports()
