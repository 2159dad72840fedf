import { runServer } from './server-main.js'

await runServer('mongod', process.argv.slice(2))
