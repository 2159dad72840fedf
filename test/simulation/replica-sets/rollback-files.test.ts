/** Documents that a rollback removes or overwrites are kept in files, as on the server. */
import { decode, readUint32, type Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { SetUnderTest, type SetUnderTestOptions } from './simulated-set.js'

async function start(t: Test, options: Partial<SetUnderTestOptions> = {}): Promise<SetUnderTest> {
  const set = await SetUnderTest.start({ seed: 1, ...options })
  t.teardown(() => set.stop())
  return set
}

const majority = { w: 'majority' }
const insert = (documents: readonly Document[], writeConcern: Document, rest: Document = {}): Document => ({
  insert: 'rows',
  documents,
  writeConcern,
  ...rest,
})

/** Writes on an isolated primary, and rolls them back. */
async function rollBack(set: SetUnderTest, write: (member: string) => Promise<unknown>): Promise<void> {
  const isolated = await set.primary()
  const heal = await set.isolate(isolated)
  await write(isolated)
  await set.runtime.advance(5000)
  const next = await set.primary()
  await set.command(next, { insert: 'others', documents: [{}], writeConcern: majority })
  await heal()
  await set.settle()
}

async function filesOf(set: SetUnderTest, member = 'rs-1') {
  const { files } = await set.runtime.request(member, 'replication.rollback-files', {})
  return files.map(([path, ns, documents]) => ({ path, ns, documents }))
}

async function documentsIn(set: SetUnderTest, path: string, member = 'rs-1'): Promise<Document[]> {
  const request = { path, offset: 0, bytesMax: 1 << 20 }
  const { bytes } = await set.runtime.request(member, 'replication.read-rollback-file', request)
  const documents: Document[] = []
  for (let at = 0; at < bytes!.length; at += readUint32(bytes!, at))
    documents.push(decode(bytes!.subarray(at, at + readUint32(bytes!, at)), { promoteLongs: true }))
  return documents
}

t.test('inserted and updated documents are in one file for each collection, in their last version', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert([{ _id: 1, v: 1 }, { _id: 2 }, { _id: 3 }], majority))
  await rollBack(set, async (member) => {
    await set.command(member, insert([{ _id: 4 }, { _id: 5 }], { w: 1 }))
    await set.command(member, {
      update: 'rows',
      updates: [{ q: { _id: 1 }, u: { $inc: { v: 1 } } }],
      writeConcern: { w: 1 },
    })
    await set.command(member, {
      update: 'rows',
      updates: [{ q: { _id: 1 }, u: { $inc: { v: 1 } } }],
      writeConcern: { w: 1 },
    })
    await set.command(member, {
      delete: 'rows',
      deletes: [{ q: { _id: { $in: [2, 5] } }, limit: 0 }],
      writeConcern: { w: 1 },
    })
    await set.command(member, insert([{ _id: 'new' }], { w: 1 }, { insert: 'created' }))
  })
  const files = await filesOf(set)
  t.match(files, [
    { ns: 'app.rows', documents: 2 },
    { ns: 'app.created', documents: 1 },
  ])
  for (const { path } of files)
    t.match(path, /^rollback\/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\/removed\.2026-01-01T00-00-\d\d\.[01]\.bson$/)
  t.strictSame(await documentsIn(set, files[0]!.path), [{ _id: 4 }, { _id: 1, v: 3 }], 'not what was deleted')
  t.strictSame(await documentsIn(set, files[1]!.path), [{ _id: 'new' }])
  const { namespaces, entries } = set.eventsOf('rollback')[0]!
  t.strictSame(namespaces, [
    { ns: 'app.rows', entries: 6, documents: 2, file: files[0]!.path },
    { ns: 'app.created', entries: 2, documents: 1, file: files[1]!.path },
  ])
  t.ok(entries >= 8)
  t.strictSame(await filesOf(set, 'rs-2'), [])
  t.strictSame((await set.command(await set.primary(), { find: 'rows', sort: { _id: 1 } }))['cursor'].firstBatch, [
    { _id: 1, v: 1 },
    { _id: 2 },
    { _id: 3 },
  ])
})

t.test('files survive restarts and checkpoints, and a lost disk loses them', async (t) => {
  const set = await start(t, { checkpointAfterBytes: 4000 })
  await set.command('rs-1', insert([{ _id: 0 }], majority))
  await rollBack(set, (member) => set.command(member, insert([{ _id: 1 }], { w: 1 })))
  const [file] = await filesOf(set)
  const next = await set.primary()
  for (let i = 100; i < 150; i++) await set.command(next, insert([{ _id: i, text: 'x'.repeat(200) }], { w: 3 }))
  await set.runtime.crash('rs-1')
  await set.runtime.restart('rs-1')
  await set.settle()
  t.strictSame(await filesOf(set), [file])
  t.strictSame(await documentsIn(set, file!.path), [{ _id: 1 }])
  await set.admin('rs-1', { replSetStepUp: 1 })
  await set.settle()
  await rollBack(set, (member) => set.command(member, insert([{ _id: 2 }], { w: 1 })))
  const files = await filesOf(set)
  t.strictSame(
    files.map(({ path }) => /\.(\d+)\.bson$/.exec(path)![1]),
    ['0', '1'],
  )
  await set.runtime.crash('rs-1')
  await set.runtime.replaceDisk('rs-1')
  await set.runtime.restart('rs-1')
  t.strictSame(await filesOf(set), [])
})

t.test('until 4.2 the folder has the name of the collection, and a parameter switches files off', async (t) => {
  const set = await start(t, { emulate: '4.0' })
  await set.command('rs-1', insert([{ _id: 0 }], majority))
  await rollBack(set, (member) => set.command(member, insert([{ _id: 1 }], { w: 1 })))
  const [file] = await filesOf(set)
  t.match(file!.path, /^rollback\/app\.rows\/removed\./)
  const next = await set.primary()
  t.match(await set.admin(next, { setParameter: 1, createRollbackDataFiles: false }), { was: true, ok: 1 })
  await rollBack(set, (member) => set.command(member, insert([{ _id: 2 }], { w: 1 })))
  t.strictSame(await filesOf(set, next), [])
  t.match(set.eventsOf('rollback').at(-1), {
    member: next,
    namespaces: [{ ns: 'app.rows', entries: 1, documents: 1, file: null }],
  })
})

t.test('writes that a majority has acknowledged are in no file', async (t) => {
  const set = await start(t)
  await set.command('rs-1', insert([{ _id: 1 }], majority))
  await rollBack(set, (member) => set.admin(member, { ping: 1 }))
  t.strictSame(await filesOf(set), [], 'the application has written with a majority only')
  const second = await set.primary()
  const late = { w: 'majority', wtimeout: 300 }
  await rollBack(set, (member) => set.command(member, insert([{ _id: 2 }], late)))
  const [file] = await filesOf(set, second)
  t.strictSame(await documentsIn(set, file!.path, second), [{ _id: 2 }], 'its write concern failed')
  const found = await set.command(await set.primary(), { find: 'rows' })
  t.strictSame(found['cursor'].firstBatch, [{ _id: 1 }])
})
