import t from 'tap'
import { counted, nearest, suggestion } from '../src/index.js'

t.test('one thing is singular, and any other number plural', async (t) => {
  t.equal(counted(1, 'finding'), '1 finding')
  t.equal(counted(0, 'finding'), '0 findings')
  t.equal(
    counted(1200, 'finding', (count) => count.toLocaleString('en')),
    '1,200 findings',
  )
})

t.test('the nearest name differs in case or in few characters, or begins with the word', async (t) => {
  const names = ['shards', 'mongos', 'duration', 'for']
  t.equal(nearest('Shards', names), 'shards')
  t.equal(nearest('shrads', names), 'shards')
  t.equal(nearest('dur', names), 'duration')
  t.equal(nearest('fro', names), 'for')
  t.equal(nearest('fox', names), 'for')
  t.equal(nearest('fix', names), null, 'a short name differs by one character at most')
  t.equal(nearest('nothing', names), null)
  t.equal(suggestion('mongo', names), 'did you mean mongos?')
  t.equal(suggestion('nothing', names), null)
})
