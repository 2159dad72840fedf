import { spawn } from 'node:child_process'
import t, { type Test } from 'tap'
import { isKeptByClusters } from '@shardlab/cluster'

const program = (runtime: string) => `
  import { ShardedCluster } from ${JSON.stringify(import.meta.resolve('shardlab'))}
  const cluster = await ShardedCluster.start({ runtime: '${runtime}', shards: 1 })
  console.log(cluster.id)`

async function warningOf(t: Test, runtime: string): Promise<{ id: string; warning: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(runtime)])
  t.teardown(() => child.kill('SIGKILL'))
  let id = ''
  child.stdout.on('data', (chunk: Buffer) => (id += chunk.toString().trim()))
  let warning = ''
  for await (const chunk of child.stderr) if ((warning += String(chunk)).includes('keeps this process alive')) break
  return { id, warning }
}

t.test('a cluster that is not stopped is named in a warning', async (t) => {
  // Together, because the warning comes after seconds.
  const warnings = await Promise.all([warningOf(t, 'inline'), warningOf(t, 'threads')])
  for (const { id, warning } of warnings)
    t.match(warning, `ShardlabWarning: only the cluster ${id} keeps this process alive: call its stop()`)
})

t.test('a process with another reason to live gets no warning', async (t) => {
  const clusters = [{ id: 'a', listeners: () => 2 }]
  t.equal(isKeptByClusters(['PipeWrap', 'TCPServerWrap', 'TCPServerWrap', 'MessagePort'], clusters), true)
  t.equal(isKeptByClusters(['TCPServerWrap', 'TCPServerWrap', 'TCPServerWrap'], clusters), false, 'a server')
  t.equal(isKeptByClusters(['TCPServerWrap', 'TCPSocketWrap'], clusters), false, 'a client')
  t.equal(isKeptByClusters(['Timeout'], clusters), false, 'a timer')
  t.equal(isKeptByClusters(['PipeWrap', 'TCPServerWrap'], clusters, true), false, 'a parent')
})
