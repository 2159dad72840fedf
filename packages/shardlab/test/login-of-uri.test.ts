import t from 'tap'
import { loginInUri, withLogin } from '../src/login-of-uri.js'

t.test('a URI has a user, or none', async (t) => {
  t.equal(loginInUri('mongodb://127.0.0.1:27017/'), null)
  t.equal(loginInUri('mongodb://127.0.0.1:27017/?tls=true'), null)
  const ann = { kind: 'password', user: 'ann', password: 'secret', source: 'admin' }
  t.same(loginInUri('mongodb://ann:secret@h:1,h:2'), ann)
  t.same(loginInUri('mongodb://ann:secret@h:1/shop'), { ...ann, source: 'shop' })
  t.same(loginInUri('mongodb://ann:secret@h:1/shop?authSource=other'), { ...ann, source: 'other' })
  t.same(loginInUri('mongodb://a%40n:se%3Acret%25@h/?authMechanism=SCRAM-SHA-1'), {
    ...{ ...ann, user: 'a@n', password: 'se:cret%', mechanism: 'SCRAM-SHA-1' },
  })
  t.same(loginInUri('mongodb://h/?tls=true&authMechanism=MONGODB-X509'), { kind: 'certificate' })
  t.throws(() => loginInUri('mongodb://ann@h/'), { name: 'OptionError', message: /user without a password/ })
  t.throws(() => loginInUri('mongodb://ann:50%@h/'), { message: /a % that is not an escape/ })
  t.throws(() => loginInUri('mongodb://ann:x@h/?authMechanism=PLAIN'), { message: /authMechanism "PLAIN"/ })
})

t.test('another user takes the place of that in a URI', async (t) => {
  const login = { user: 'a:b', password: 'p@w', source: 'shop' }
  const uri = withLogin('mongodb://old:one@h:1,h:2/db?tls=true&authMechanism=MONGODB-X509&authSource=x', login)
  t.equal(uri, 'mongodb://a%3Ab:p%40w@h:1,h:2/?tls=true&authSource=shop')
  t.match(loginInUri(uri), { ...login, kind: 'password' })
  t.match(loginInUri(withLogin('mongodb://h:1', login)), login)
})
