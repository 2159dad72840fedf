import t from 'tap'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SharedFile } from '../src/shared-file.js'

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-shared-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

t.test('one of several writes the file, and the others wait for it', async (t) => {
  const folder = folderOf()
  let writes = 0
  const paths = await Promise.all(
    Array.from({ length: 5 }, () =>
      new SharedFile(folder, 'x').get(async (path) => {
        writes++
        await new Promise(setImmediate)
        writeFileSync(path, 'content')
      }),
    ),
  )
  t.equal(writes, 1)
  t.equal(new Set(paths).size, 1)
  t.equal(readFileSync(paths[0]!, 'utf8'), 'content')
})

t.test('a failed attempt, or a writer that was killed, leaves the file to the next', async (t) => {
  const folder = folderOf()
  const file = new SharedFile(folder, 'x')
  await t.rejects(
    file.get(() => Promise.reject(new Error('no'))),
    /^no$/,
  )
  writeFileSync(join(folder, 'x.lock'), String(2 ** 22 - 1))
  t.equal(readFileSync(await file.get(async (path) => writeFileSync(path, 'second')), 'utf8'), 'second')
})
