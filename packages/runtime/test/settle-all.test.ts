import t from 'tap'
import { settleAll } from '../src/supervisor/keep-alive.js'

t.test('all have settled before the first error is thrown, and a cause before its consequence', async (t) => {
  const ended: string[] = []
  const end = async (name: string, turns: number): Promise<string> => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    ended.push(name)
    if (name.startsWith('wrong')) throw new Error(name)
    return name
  }
  t.same(await settleAll([end('a', 3), end('b', 1)]), ['a', 'b'])
  await t.rejects(settleAll([end('wrong 1', 1), end('c', 9), end('wrong 2', 0)]), { message: 'wrong 1' })
  t.equal(ended.at(-1), 'c')
  const isFirst = (error: unknown): boolean => (error as Error).message === 'wrong 1'
  await t.rejects(settleAll([end('wrong 1', 1), end('wrong 2', 3)], isFirst), { message: 'wrong 2' })
  await t.rejects(settleAll([end('wrong 1', 1), end('d', 0)], isFirst), { message: 'wrong 1' })
})
