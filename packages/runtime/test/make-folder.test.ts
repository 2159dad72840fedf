import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeFolder } from '../src/index.js'

t.test('a folder is made with its parents, and a second time nothing happens', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'shardlab-folders-'))
  t.teardown(() => rmSync(base, { recursive: true }))
  const path = join(base, 'a', 'b', 'c')
  makeFolder(path, 0o700)
  makeFolder(path)
  t.equal(statSync(path).mode & 0o777, 0o700)
  t.same(readdirSync(join(base, 'a')), ['b'])
  writeFileSync(join(base, 'file'), '')
  t.throws(() => makeFolder(join(base, 'file')), { code: 'EEXIST' })
  t.throws(() => makeFolder(join(base, 'file', 'a', 'b')), { code: 'ENOTDIR' })
})

t.test('where the file system refuses, it ends', { skip: process.platform !== 'linux' && 'needs /proc' }, async (t) => {
  t.throws(() => makeFolder('/proc/shardlab/a'), { code: 'ENOENT' })
})
