/** The simulator in a process of its own, for the benchmarks. */
import { parseArgs } from 'node:util';
import { dialects, startSimulator } from '.';

const { port, host, token, latency } = parseArgs({
	options: {
		port: { type: 'string', default: '8787' },
		host: { type: 'string', default: '127.0.0.1' },
		token: { type: 'string', default: 'simulator-token1' },
		latency: { type: 'string', default: '0' },
	},
}).values;

void startSimulator({
	dialect: dialects.plain,
	port: Number(port),
	host,
	latencyMs: Number(latency),
	token,
	keepBodies: false,
}).then((simulator) => {
	process.once('SIGTERM', () => void simulator.stop());
	console.log(`${simulator.baseUrl} with the API token ${token}`);
});
