/**
 * A process that runs test files one after the other, as `test-runner.mjs` names them: what they import is loaded, and
 * compiled, once. Each file gets a root test of its own: the `t` that `tap` exports is one object for the whole process,
 * which hands everything on to the root test of the file that is running.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { Test } from 'tap'
import { root } from './workspace.mjs'

/** What tap itself ends a file with: no complaint when the file called `t.end()` before. */
const implicitEnd = Symbol.for('implicit end')

/** @type {Test | null} */
let fileTest = null

// The time that tap gives a file starts with each file.
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

// Nothing is left to wait for: what the file still waits for will not come, which tap reports as it does at the end of a process.
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
  // What a file that failed has left running would disturb the next.
  process.send({ outcome }, () => outcome.trouble !== null && process.exit())
}

process.on('message', (file) => {
  if (typeof file === 'string') void report(file)
})
