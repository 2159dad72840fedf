import t, { type Test } from 'tap'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkDrivers } from '../src/doctor/drivers.js'
import { checkLocalhost, checkNode, checkPort, checkTemporaryFolder } from '../src/doctor/machine.js'
import { checkPrograms, checkSystemBinary } from '../src/doctor/programs.js'

function folderOf(t: Test, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-doctor-test-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    if (text.startsWith('#!')) chmodSync(join(folder, path), 0o755)
  }
  return folder
}

t.test('Node.js before 20.19 is too old', (t) => {
  for (const version of ['18.20.0', '20.18.9'])
    t.match(checkNode(version), { status: 'problem', text: /install 20\.19/ })
  for (const version of ['20.19.0', '22.1.0', '24.0.0']) t.match(checkNode(version), { status: 'fine' })
  t.end()
})

t.test('a port in use is named, with what to pass instead', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t.match(await checkPort(port), { name: `Port ${port}`, status: 'note', text: /--port 0/ })
  await new Promise((resolve) => server.close(resolve))
  t.match(await checkPort(port), { status: 'fine' })
})

t.test('localhost and the folder for temporary files', async (t) => {
  t.match(await checkLocalhost(), { name: 'localhost' })
  t.match(checkTemporaryFolder(), { status: 'fine' })
  t.match(checkTemporaryFolder('/nonexistent/folder'), { status: 'problem', text: /set TMPDIR/ })
})

t.test('programs on the PATH are listed with their versions', (t) => {
  const folder = folderOf(t, {
    mongod: '#!/bin/sh\necho "db version v7.0.25"\n',
    mongosh: '#!/bin/sh\nexit 1\n',
  })
  const results = checkPrograms(`/nonexistent:${folder}`)
  t.match(results, [
    { name: 'mongod', status: 'fine', text: /mongod is version 7\.0\.25\./ },
    { name: 'mongos', status: 'fine', text: /not on the PATH/ },
    { name: 'mongosh', status: 'note', text: /does not answer --version/ },
  ])
  t.match(checkSystemBinary(join(folder, 'mongod')), { status: 'fine', text: /7\.0\.25/ })
  t.match(checkSystemBinary(join(folder, 'mongosh')), { status: 'problem' })
  t.match(checkSystemBinary(join(folder, 'none')), { status: 'problem', text: /shardlab which mongod/ })
  t.match(checkSystemBinary(undefined), { status: 'fine', text: /not set/ })
  t.end()
})

t.test('a driver that refuses the emulated version is a problem', (t) => {
  const driver = (wireMin: number): Record<string, string> => ({
    'node_modules/mongodb/package.json': '{ "version": "7.9.0" }',
    'node_modules/mongodb/lib/cmap/wire_protocol/constants.js': `exports.MIN_SUPPORTED_WIRE_VERSION = ${wireMin}`,
  })
  const project = folderOf(t, {
    ...driver(9),
    'node_modules/mongodb-memory-server/package.json': '{ "version": "9.2.0" }',
  })
  t.match(checkDrivers(project, { emulate: '4.0', nativeWire: false }), [
    { status: 'fine', text: /accepts 4\.0/ },
    { name: 'mongodb-memory-server', status: 'note', text: /use 10 or 11/ },
  ])
  t.match(checkDrivers(project, { emulate: '4.0', nativeWire: true }), [
    {
      status: 'problem',
      text: /needs wire version 9, and 4\.0 announces 7: leave out --native-wire, or emulate 4\.4 /,
    },
  ])
  t.match(checkDrivers(folderOf(t, driver(21)), { emulate: '5.0', nativeWire: false }), [
    { status: 'problem', text: /emulate 7\.0 or newer/ },
  ])
  t.match(checkDrivers(folderOf(t), { emulate: '7.0', nativeWire: false }), [{ status: 'note' }])
  t.end()
})
