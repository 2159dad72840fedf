/**
 * A process that runs test files one after the other, as `test-runner.mjs` names them. Imported
 * modules are loaded and compiled once. Each file gets its own root test: the `t` that `tap`
 * exports is one object for the whole process, which forwards to the root test of the running file.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { Test } from 'tap'
import { root } from './workspace.mjs'

/** The token with which tap itself ends a file: no error when the file has called `t.end()`. */
const implicitEnd = Symbol.for('implicit end')

/** @type {Test | null} */
let fileTest = null

// Tap's timeout starts with each file.
t.setTimeout(0)
Object.setPrototypeOf(
  t,
  new Proxy(Object.create(null), {
    get: (_, name) => {
      const value = fileTest[name]
      return typeof value === 'function' ? value.bind(fileTest) : value
    },
    set: (_, name, value) => Reflect.set(fileTest, name, value),
    has: (_, name) => name in fileTest,
  }),
)

// The event loop is empty, so the file's pending promises will never settle. Tap reports that as at
// the end of a process.
process.on('beforeExit', () => fileTest?.endAll())
process.on('uncaughtException', (error) => {
  if (fileTest !== null) return fileTest.threw(error)
  console.error(error)
  process.exit(1)
})

async function runFile(file) {
  const test = new Test({ name: file })
  const timer = setTimeout(
    () => {
      test.timeout()
      test.endAll()
    },
    Number(process.env['TAP_TIMEOUT']) * 1000,
  )
  timer.unref()
  test.testdirName = join(root, '.tap', 'fixtures', file.replaceAll(/[^\w.-]+/g, '-'))
  fileTest = test
  let output = ''
  test.on('data', (chunk) => (output += chunk))
  const ended = new Promise((resolve) => test.on('end', resolve))
  try {
    await import(pathToFileURL(join(root, file)).href)
  } catch (error) {
    test.threw(error)
  }
  test.end(implicitEnd)
  await ended
  clearTimeout(timer)
  fileTest = null
  const exitCode = process.exitCode ?? (test.passing() ? 0 : 1)
  process.exitCode = undefined
  const trouble = exitCode === 0 ? null : `exit code ${exitCode}`
  return { lines: output.split('\n').slice(0, -1), trouble, heapBytes: process.memoryUsage().heapUsed }
}

async function report(file) {
  process.channel.unref()
  const outcome = await runFile(file)
  process.channel.ref()
  // A failed file may have left something running that would disturb the next one.
  process.send({ outcome }, () => outcome.trouble !== null && process.exit())
}

process.on('message', (file) => {
  if (typeof file === 'string') void report(file)
})
