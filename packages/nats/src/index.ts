export { connectNats, type NatsLink } from './connect.js'
export { connectionOptions, withoutPassword, type NatsOptions } from './options.js'
export { listen } from './listen.js'
export { messageOf, OptionError } from './option-error.js'
