import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '@shardlab/actor'
import t, { type Test } from 'tap'
import { DataDirectory } from '../src/durable/data-directory.js'
import { DirectoryLock, lockDirectory } from '../src/durable/directory-lock.js'
import { OptionError } from '../src/option-error.js'

const seed = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const rounds = process.env['SHARDLAB_LONG'] === '1' ? 5000 : 200

async function newDirectory(test: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'shardlab-lock-'))
  test.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A process that was killed, or one of elsewhere. */
async function lockOf(directory: string, holder: object): Promise<string> {
  const { ino: inode } = await stat(directory)
  const killed = { id: 'killed', pid: 2 ** 22 + 1, startedAt: null, host: hostname(), namespace: null }
  return `${JSON.stringify({ ...killed, inode, ...holder })}\n`
}

t.test('of several starts after a kill, at most one gets the directory, in any order of their steps', async (test) => {
  const directory = await newDirectory(test)
  const killed = await lockOf(directory, {})
  let got = 0
  for (let round = 0; round < rounds; round++) {
    const random = createRandom(seed).fork(`round ${round}`)
    await writeFile(join(directory, 'lock'), random.below(4) === 0 ? '' : killed)
    await writeFile(join(directory, 'lock.held.killed'), killed)
    const starts = Array.from({ length: 2 + random.below(3) }, () => {
      const lock = new DirectoryLock(directory)
      return { lock, steps: lock.acquire() }
    })
    const holders: DirectoryLock[] = []
    const running = [...starts]
    while (running.length > 0) {
      const i = random.below(running.length)
      const { lock, steps } = running[i]!
      try {
        if (steps.next().done !== true) continue
        holders.push(lock)
      } catch (error) {
        if (!(error instanceof OptionError)) throw error
      }
      running.splice(i, 1)
      if (holders.length > 1) return void test.fail(`SHARDLAB_SEED=${seed}, round ${round}: two have the directory`)
    }
    got += holders.length
    for (const lock of holders) lock.release()
    const left = (await readdir(directory)).filter((name) => name !== 'lock.held.killed')
    if (left.length > 0) return void test.fail(`SHARDLAB_SEED=${seed}, round ${round}: ${left.join()} is left`)
  }
  test.ok(got > rounds / 2, `${got} of ${rounds} rounds of seed ${seed} had a holder`)
})

t.test('a second start is refused, and the file is there as a whole', async (test) => {
  const directory = await newDirectory(test)
  const release = lockDirectory(directory)
  test.equal(JSON.parse(await readFile(join(directory, 'lock'), 'utf8')).pid, process.pid)
  test.throws(() => lockDirectory(directory), new RegExp(`is in use by process ${process.pid}: stop it first`))
  release()
  test.strictSame(await readdir(directory), [])
})

t.test('a process of another container counts as alive, also without the file lock', async (test) => {
  if (process.platform !== 'linux') {
    test.comment('the system has no such containers')
    return
  }
  const directory = await newDirectory(test)
  const other = await lockOf(directory, { pid: 1, namespace: 'pid:[1]' })
  const message = /in use by process 1 in another container: stop it first, or delete .*\/lock and .*\/lock\.held\.\*/
  for (const name of ['lock', 'lock.held.other']) {
    await writeFile(join(directory, name), other)
    test.throws(() => lockDirectory(directory), message)
    test.strictSame(await readdir(directory), [name], 'nothing else is left')
    await rm(join(directory, name))
  }
  lockDirectory(directory)()
})

t.test('a directory that cannot be written is refused in one sentence', async (test) => {
  if (process.getuid?.() === 0 || process.platform === 'win32') {
    test.comment('this user may write everywhere')
    return
  }
  const directory = await newDirectory(test)
  await chmod(directory, 0o500)
  test.throws(() => DataDirectory.open({ dbPath: directory }), {
    name: 'OptionError',
    message: /cannot be used \(EACCES.*\): choose another directory/,
  })
})
