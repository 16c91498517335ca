import { parseArgs } from 'node:util';
import { dialects, startSimulator, type Dialect } from '.';

const USAGE = `Usage: tsx test/simulator/cli.ts [--port 8787] [--dialect plain|terse|wrapped|nested] [--latency ms]
  [--auto-complete ms] [--token 16-characters] [--no-bodies]`;

function dialectNamed(name: string): Dialect {
	const found = Object.values(dialects).find((dialect) => dialect.name === name);
	if (!found) throw new Error(`There is no dialect ${name}.\n${USAGE}`);
	return found;
}

function numberOf(text: string | undefined, name: string): number | undefined {
	if (text === undefined) return undefined;
	const value = Number(text);
	if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
		throw new Error(`--${name} takes a number.\n${USAGE}`);
	}
	return value;
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: '8787' },
			dialect: { type: 'string', default: 'plain' },
			latency: { type: 'string' },
			'auto-complete': { type: 'string' },
			token: { type: 'string' },
			'no-bodies': { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(USAGE);
		return;
	}
	const autoComplete = numberOf(values['auto-complete'], 'auto-complete');
	const simulator = await startSimulator({
		dialect: dialectNamed(values.dialect),
		port: numberOf(values.port, 'port') ?? 0,
		latencyMs: numberOf(values.latency, 'latency') ?? 0,
		keepBodies: !values['no-bodies'],
		keepResponses: !values['no-bodies'],
		...(values.token === undefined ? {} : { token: values.token }),
	});
	let stopping = false;
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.on(signal, () => {
			if (stopping) return;
			stopping = true;
			void simulator.stop();
		});
	}
	if (autoComplete !== undefined) simulator.setAutoComplete({ afterMs: autoComplete });

	console.log(`Voice and Chat Agent Service (simulator, dialect ${simulator.dialect.name})`);
	console.log(`Base URL:  ${simulator.baseUrl}`);
	console.log(`API token: ${simulator.token}`);
	for (const { agentUuid, name, active, number } of simulator.state.agents.values()) {
		console.log(
			`Agent      ${agentUuid}  ${name}${active ? '' : ', inactive'}${number === null ? ', no number' : ''}`,
		);
	}
	for (const { id, name, status } of simulator.state.campaigns.values()) {
		console.log(`Campaign   ${id}  ${name}, ${status}`);
	}
}

main().catch((caught: unknown) => {
	const text = caught instanceof Error ? caught.message : String(caught);
	const taken = text.includes('EADDRINUSE');
	console.error(taken ? 'This port is in use. Choose another one with --port.' : text);
	process.exitCode = 1;
});
