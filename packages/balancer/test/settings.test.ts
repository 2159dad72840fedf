import { encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { isActive, parseSettings, type BalancerSettings } from '../src/index.js'

const at = (time: string) => Date.parse(`2026-01-01T${time}:00Z`)
const parse = (settings: Document) => parseSettings(encode({ _id: 'balancer', ...settings }))

t.test('switches', async (t) => {
  t.match(parseSettings(null), { mode: 'full', activeWindow: null, attemptToBalanceJumboChunks: false })
  t.match(parse({ stopped: true, mode: 'full' }), { mode: 'off' })
  t.match(parse({ mode: 'off' }), { mode: 'off' })
  t.match(parse({ attemptToBalanceJumboChunks: true }), { attemptToBalanceJumboChunks: true })
})

t.test('D841: the window, in the time of Greenwich', async (t) => {
  const active = (start: string, stop: string, time: string) =>
    isActive(parse({ activeWindow: { start, stop } }) as BalancerSettings, at(time))
  t.equal(active('09:00', '17:30', '09:00'), true)
  t.equal(active('09:00', '17:30', '17:30'), true)
  t.equal(active('09:00', '17:30', '17:31'), false)
  t.equal(active('09:00', '17:30', '08:59'), false)
  t.equal(active('23:00', '6:00', '02:00'), true, 'over midnight')
  t.equal(active('23:00', '6:00', '12:00'), false)
  t.equal(isActive(parse({ activeWindow: { start: '09:00', stop: '17:30' }, stopped: true }) as BalancerSettings, at('10:00')), false)
})

t.test('windows that are none', async (t) => {
  for (const activeWindow of [
    { start: '09:00' },
    { start: '', stop: '10:00' },
    { start: '09:00', stop: '25:00' },
    { start: 'nine', stop: 'ten' },
    { start: '09:00', stop: '09:00' },
  ])
    t.type(parse({ activeWindow }), 'string', JSON.stringify(activeWindow))
})
