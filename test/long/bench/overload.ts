/** `npm run long -- overload`: how long a webhook of another workflow waits while chat events come faster than n8n can take. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import range from 'lodash/range';
import { CREDENTIAL } from '../../../nodes/host/http/credential';
import { post, published } from '../../e2e/calls';
import { runScript } from '../../n8n/command';
import { packageName } from '../../n8n/package-install';
import { chain, node, webhook } from '../../n8n/workflow';
import { filled } from '../../simulator';
import { Bench } from './bench';
import { quantile } from './report';

const { values } = parseArgs({
	options: {
		triggers: { type: 'string', default: '3' },
		/** Events per second and trigger. */
		rate: { type: 'string', default: '25' },
		seconds: { type: 'string', default: '20' },
		/** Of n8n, such as N8N_CONCURRENCY_PRODUCTION_LIMIT=5. */
		setting: { type: 'string', default: '' },
	},
});

const triggers = Number(values.triggers);
const rate = Number(values.rate);
const seconds = Number(values.seconds);

/** Milliseconds until the webhook has responded, `count` times, once a second. */
async function waits(url: string, count: number): Promise<number[]> {
	const responses = range(count).map(async (second) => {
		await sleep(second * 1_000);
		const sentAt = performance.now();
		await (await post(url, {})).text();
		return Math.round(performance.now() - sentAt);
	});
	return await Promise.all(responses);
}

async function measure(setting: string): Promise<string> {
	const [name = '', value = ''] = setting.split('=');
	const bench = await Bench.start({ settings: name === '' ? {} : { [name]: value } });
	try {
		const { driver, executions, n8n, target } = bench;
		const credentials = { [CREDENTIAL]: target.ours };
		const after = node('After', 'n8n-nodes-base.noOp', 1);
		await bench.resetService({ sessions: triggers });
		const path = randomUUID();
		const other = chain('other', webhook(path, { responseMode: 'onReceived' }), after);
		const listening = range(triggers).map((index) => {
			const type = `${packageName}.chatEventsTrigger`;
			const parameters = { sessionIds: filled.sessionId(index) };
			return chain(`events ${index}`, node('Trigger', type, 1, parameters, { credentials }), after);
		});
		const workflows = [];
		for (const workflow of [other, ...listening]) {
			const saved = await driver.createWorkflow(workflow);
			await driver.activate(saved);
			await published(driver, saved);
			workflows.push(saved);
		}
		await bench.connected(triggers);
		await (await driver.webhook(path)).text();
		const url = `${n8n.baseUrl}/webhook/${path}`;
		const quiet = await waits(url, 5);
		const startedAt = performance.now();
		const during = waits(url, seconds);
		const events = rate * seconds;
		for (const number of range(events)) {
			const early = startedAt + (number * 1_000) / rate - performance.now();
			if (early > 0) await sleep(early);
			for (const index of range(triggers)) {
				const payload = { idle_seconds: 60, signal: `signal-${number}-` };
				const event = { sessionId: filled.sessionId(index), type: 'nudge_sent', payload };
				await bench.command('pushEvent', event);
			}
		}
		const waited = await during;
		const [, ...watched] = workflows;
		for (const { id } of watched) await executions.ended(id, 0, events);
		const doneAfter = Math.round((performance.now() - startedAt) / 1_000);
		// An event that started twice would still be running.
		await sleep(5_000);
		for (const { id } of watched) {
			const ended = await executions.ended(id, 0, events);
			const signals = new Set(ended.map(({ data }) => /signal-\d+-/.exec(data)?.[0]));
			if (ended.length !== events || signals.size !== events)
				throw new Error(`${events} events, ${ended.length} executions, ${signals.size} different`);
		}
		const figures = [quiet, waited].flatMap((all) => [quantile(all, 0.5), Math.max(...all)]);
		return `| ${[setting || 'Default', ...figures, doneAfter].join(' | ')} |`;
	} finally {
		await bench.stop();
	}
}

async function main(): Promise<void> {
	const header = [
		'| n8n | quiet: median ms | longest | during events: median ms | longest | all events done after s |',
		'| - | - | - | - | - | - |',
	];
	console.log([...header, await measure(values.setting)].join('\n'));
}

runScript(main);
