import { encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { isActive, parseSettings, type BalancerSettings } from '../src/index.js'

const at = (time: string) => Date.parse(`2026-01-01T${time}:00Z`)
const parse = (settings: Document) => parseSettings(encode({ _id: 'balancer', ...settings }))

t.test('each switch of the settings is read', async (t) => {
  t.match(parseSettings(null), { mode: 'full', activeWindow: null, attemptToBalanceJumboChunks: false })
  t.match(parse({ stopped: true, mode: 'full' }), { mode: 'off' })
  t.match(parse({ mode: 'off' }), { mode: 'off' })
  t.equal(parse({ mode: 'sometimes' }), 'Invalid balancer mode')
  t.match(parse({ attemptToBalanceJumboChunks: true }), { attemptToBalanceJumboChunks: true })
})

t.test("settings of a wrong type are refused in the server's words", async (t) => {
  for (const [settings, expected] of [
    [{ mode: 1 }, '"mode" had the wrong type. Expected string, found int'],
    [{ stopped: 'yes' }, 'Expected boolean or number type for field "stopped", found string'],
    [{ _waitForDelete: 'yes' }, 'Expected boolean or number type for field "_waitForDelete", found string'],
    [
      { attemptToBalanceJumboChunks: {} },
      'Expected boolean or number type for field "attemptToBalanceJumboChunks", found object',
    ],
    [{ _secondaryThrottle: 1 }, '"_secondaryThrottle" had the wrong type. Expected object, found int'],
    [{ activeWindow: null }, '"activeWindow" had the wrong type. Expected object, found null'],
    [{ activeWindow: {} }, 'activeWindow not specified'],
    [{ activeWindow: { start: 'nine', stop: 'ten' } }, 'activeWindow format is  { start: "hh:mm" , stop: "hh:mm" }'],
    [{ activeWindow: { start: '09:00', stop: '9:00' } }, 'start and stop times must be different'],
  ] as const)
    t.equal(parse(settings), expected)
  t.match(parse({ stopped: 1, mode: 'sometimes' }), { mode: 'off' }, 'what is stopped has no mode')
  t.match(parse({ _waitForDelete: 1, _secondaryThrottle: { w: 2 } }), {
    mode: 'full',
    waitForDelete: true,
    secondaryThrottle: encode({ w: 2 }),
  })
})

t.test('D841: the active window is in UTC', async (t) => {
  const active = (start: string, stop: string, time: string) =>
    isActive(parse({ activeWindow: { start, stop } }) as BalancerSettings, at(time))
  t.equal(active('09:00', '17:30', '09:00'), true)
  t.equal(active('09:00', '17:30', '17:30'), true)
  t.equal(active('09:00', '17:30', '17:31'), false)
  t.equal(active('09:00', '17:30', '08:59'), false)
  t.equal(active('23:00', '6:00', '02:00'), true, 'over midnight')
  t.equal(active('23:00', '6:00', '12:00'), false)
  t.equal(
    isActive(
      parse({ activeWindow: { start: '09:00', stop: '17:30' }, stopped: true }) as BalancerSettings,
      at('10:00'),
    ),
    false,
  )
})

t.test('an invalid active window is refused', async (t) => {
  for (const activeWindow of [
    { start: '09:00' },
    { start: '', stop: '10:00' },
    { start: '09:00', stop: '25:00' },
    { start: 'nine', stop: 'ten' },
    { start: '09:00', stop: '09:00' },
  ])
    t.type(parse({ activeWindow }), 'string', JSON.stringify(activeWindow))
})
