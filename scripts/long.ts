/** `npm run long`: lists the runs that take too long for every change. `npm run long -- queue --seed 7` runs one. */
import { spawnSync } from 'node:child_process';

type Run = { what: string; needs?: string; command: string };

const node = 'node --import tsx';
const built = `npm run build && ${node}`;

const RUNS: Record<string, Run> = {
	bench: {
		what: "measures the nodes beside n8n's core nodes and a script",
		command: `${built} test/long/bench/run.ts`,
	},
	compatibility: {
		what: 'runs the core tests with older n8n versions',
		command: `${node} scripts/compatibility.ts`,
	},
	container: {
		what: 'runs the tests with n8n in a container, such as container 2.48.5',
		needs: 'Docker',
		command: `${built} scripts/container.ts`,
	},
	crash: {
		what: 'ends n8n during each node that writes, retries, and counts the requests',
		needs: 'PostgreSQL, Redis',
		command: `${built} test/long/crash/run.ts`,
	},
	fuzz: {
		what: 'tries new random values in the tests, and actions, frames, and webhook requests with one thing wrong',
		command: 'PROPERTY_SEED=new FUZZ_RUNS=400 jest test/fuzz test/nodes test/network',
	},
	idle: {
		what: 'measures what n8n takes with the nodes while nothing happens',
		command: `${built} test/long/bench/idle.ts`,
	},
	mutation: {
		what: 'lists small changes of the code that no test notices',
		command: 'node test/long/mutation/run.mjs',
	},
	overload: {
		what: 'measures how long a webhook waits while chat events come faster than n8n can take',
		command: `${built} test/long/bench/overload.ts`,
	},
	polls: {
		what: 'has n8n check for calls many times, slowly and with a kill, and looks for repeats and losses',
		command: 'npm run build && LEVEL=polls jest',
	},
	queue: {
		what: 'kills and freezes processes of n8n in queue mode, and looks for repeats and losses',
		needs: 'PostgreSQL, Redis',
		command: `${built} test/long/queue/queue.ts`,
	},
	release: {
		what: 'publishes to a local registry, and installs and updates the package in n8n',
		command: 'LEVEL=release jest',
	},
};

const [name = '', ...args] = process.argv.slice(2);
const run = RUNS[name];
if (run === undefined) {
	for (const [known, { what, needs }] of Object.entries(RUNS)) {
		const tools = needs === undefined ? '' : ` (needs ${needs})`;
		console.log(`npm run long -- ${known.padEnd(14)} ${what}${tools}`);
	}
	process.exitCode = name === '' ? 0 : 1;
} else {
	const { status } = spawnSync('sh', ['-c', `${run.command} "$@"`, 'long', ...args], {
		stdio: 'inherit',
	});
	process.exitCode = status ?? 1;
}
