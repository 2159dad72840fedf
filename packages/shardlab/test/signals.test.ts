import t, { type Test } from 'tap'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../bin/shardlab.js', import.meta.url))
const cliModule = new URL('../src/cli.js', import.meta.url).href
const upModule = new URL('../src/commands/up.js', import.meta.url).href

function start(t: Test, args: string[]): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

async function up(t: Test): Promise<{ child: ChildProcess; host: string; port: number }> {
  const child = start(t, [bin, 'up', '--json', '--port', '0', '--shards', '1', '--runtime', 'inline'])
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  const { mongos } = JSON.parse(line.toString()) as { mongos: string[] }
  const [host, port] = mongos[0]!.split(':')
  return { child, host: host!, port: Number(port) }
}

async function exitCode(child: ChildProcess): Promise<unknown> {
  const [code, signal] = await once(child, 'exit')
  return code ?? signal
}

t.test('an incomplete command does not delay the end', async (t) => {
  const { child, host, port } = await up(t)
  const socket = connect({ host, port, allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  await new Promise<void>((resolve) => socket.write(Buffer.from([100, 0, 0, 0, 1, 0, 0, 0]), () => resolve()))
  const fromMs = performance.now()
  child.kill('SIGTERM')
  t.equal(await exitCode(child), 0)
  // Twice the promised second, for busy machines. Closing all connections in order may take five.
  t.ok(performance.now() - fromMs < 2000)
})

t.test('a second signal at the same time changes nothing', async (t) => {
  const { child } = await up(t)
  child.kill('SIGINT')
  child.kill('SIGTERM')
  t.equal(await exitCode(child), 0)
})

t.test('up ends when a parent with an IPC channel ends, at any time and for any reason', async (t) => {
  const children = Array.from({ length: 2 }, () =>
    spawn(process.execPath, [bin, 'up', '--json', '--port', '0', '--shards', '1', '--runtime', 'inline'], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    }),
  )
  t.teardown(() => children.forEach((child) => child.kill('SIGKILL')))
  const codes = Promise.all(children.map(exitCode))
  const [early, late] = children as [ChildProcess, ChildProcess]
  early.disconnect()
  await once(late.stdout!, 'data')
  late.disconnect()
  t.same(await codes, [0, 0])
})

t.test('a signal during the start ends up without output', async (t) => {
  const options = { shards: 3, mongos: 1, port: 0, host: '127.0.0.1', emulate: '7.0', runtime: 'threads' }
  const program = `import(${JSON.stringify(upModule)}).then(({ up }) => up(${JSON.stringify(options)}, Promise.resolve()))`
  const child = start(t, ['-e', program])
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  t.equal(await exitCode(child), 0)
  t.equal(output, '')
})

t.test('up keeps running when its output is closed', async (t) => {
  const program = `import(${JSON.stringify(cliModule)}).then(() => process.stdout.emit('error', new Error('write EPIPE')))`
  const child = start(t, ['-e', program, '--', '--version'])
  let errors = ''
  child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  t.equal(await exitCode(child), 0)
  t.equal(errors, '')
})
