/** Sends completed calls to one workflow at a fixed pace, and counts and times what they start. */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import countBy from 'lodash/countBy';
import mapValues from 'lodash/mapValues';
import sumBy from 'lodash/sumBy';
import { z } from 'zod';
import { quantile } from '../bench/report';
import { deliver, type DeliveryResult } from '../e2e/sender';
import { atPace } from '../n8n/pace';
import type { QueueMode } from '../n8n/queueMode';
import type { Side, Start } from './completionSides';
import { treeCpuMs } from './processCpu';

/** Longer than n8n takes to respond, so that the sender never gives up. */
const TIMEOUT_MS = 60_000;

/** Without a new or ended execution for this long, nothing more is expected. */
const MAX_UNCHANGED_MS = 60_000;
const POLL_MS = 1_000;

export type Pace = {
	calls: number;
	everyMs: number;
	/** If the side starts once, every n-th call is delivered to all webhook processes at the same time. Never if 0. */
	repeatEvery: number;
	/** Whether senders disconnect as soon as they have sent. */
	hangsUp?: boolean;
};

type Sent = { at: number; responses: DeliveryResult[] };

/** The figures of one block, as they are added up. */
export type Block = {
	sent: number;
	repeated: number;
	responses: Record<string, number>;
	/** Accepted by n8n, or by a sender that disconnected, but in no execution that reached the next node. */
	lost: number[];
	/** In several executions that reached the next node. */
	twice: number[];
	/** Not accepted by n8n either. Its sender knows that. */
	rejected: number;
	/** The reasons of failed executions. */
	failures: string[];
	/** From the delivery to the start of the node after the trigger, in milliseconds. */
	latencies: number[];
	/** To the start of the node after n8n's Webhook node. */
	webhookLatencies: number[];
	seconds: number;
	/** From the last delivery to the end of the last execution. */
	settlingSeconds: number;
	cpuMs: Record<string, number>;
	databaseBytes: number;
	load: number;
};

/** Processes by kind. */
export type Pids = Record<string, number[]>;

const sized = z.array(z.object({ bytes: z.number() })).length(1);

export async function runBlock(
	side: Side,
	queue: QueueMode,
	pids: Pids,
	first: number,
	pace: Pace,
): Promise<Block> {
	const after = side.last();
	const cpuBefore = mapValues(pids, treeCpuMs);
	const bytesBefore = databaseBytes(queue);
	const startedAt = Date.now();
	const sent = await sendAtPace(side, first, pace);
	const sentAt = Date.now();
	const seconds = (sentAt - startedAt) / 1_000;
	await settled(side, after, [...sent.values()].flatMap(receivedBy).length);
	const settlingSeconds = (Date.now() - sentAt) / 1_000;
	const cpuMs = mapValues(pids, (all, kind) => treeCpuMs(all) - (cpuBefore[kind] ?? 0));
	const databaseGrowth = databaseBytes(queue) - bytesBefore;
	const load = loadavg()[0] ?? Number.NaN;
	const measured = { seconds, settlingSeconds, cpuMs, databaseBytes: databaseGrowth, load };
	return { ...evaluate(sent, side.starts(after)), ...measured };
}

/** The responses of senders that don't know of a failure. */
const receivedBy = ({ responses }: Sent) =>
	responses.filter((one) => one === 200 || one === 'disconnected');

async function sendAtPace(
	side: Side,
	first: number,
	{ calls, everyMs, repeatEvery, hangsUp = false }: Pace,
): Promise<Map<number, Sent>> {
	const { urls } = side;
	const sent = new Map<number, Sent>();
	await atPace(calls, everyMs, async (index) => {
		const call = first + index;
		const record: Sent = { at: Date.now(), responses: [] };
		sent.set(call, record);
		const isRepeated = side.isOnce && repeatEvery > 0 && index % repeatEvery === 0;
		const nth = index % urls.length;
		const chosen = isRepeated ? urls : urls.slice(nth, nth + 1);
		const deliveries = chosen.map(async (url) => {
			const response = await deliver(url, side.completion(call), hangsUp ? 0 : TIMEOUT_MS);
			record.responses.push(response);
		});
		await Promise.all(deliveries);
	});
	return sent;
}

async function settled(side: Side, after: number, expected: number): Promise<void> {
	let last = '';
	for (let unchangedMs = 0; unchangedMs < MAX_UNCHANGED_MS; unchangedMs += POLL_MS) {
		const counts = side.counts(after);
		if (counts.all >= expected && counts.open === 0) return;
		if (JSON.stringify(counts) !== last) unchangedMs = 0;
		last = JSON.stringify(counts);
		await sleep(POLL_MS);
	}
}

function evaluate(sent: ReadonlyMap<number, Sent>, starts: readonly Start[]) {
	const nextNode = starts.flatMap(({ call, spans }) => {
		const next = spans.find(({ node }) => node === 'After');
		return next === undefined || call === undefined ? [] : [{ call, from: next.from }];
	});
	const afterWebhook = starts.flatMap(({ call, spans }) => {
		const next = spans.find(({ node }) => node === 'HTTP');
		return next === undefined || call === undefined ? [] : [{ call, from: next.from }];
	});
	const times = countBy(nextNode, ({ call }) => call);
	const calls = [...sent.entries()];
	const latency = ({ call, from }: { call: number; from: number }) =>
		from - (sent.get(call)?.at ?? Number.NaN);
	return {
		sent: sent.size,
		repeated: calls.filter(([, { responses }]) => responses.length > 1).length,
		responses: countBy(calls.flatMap(([, { responses }]) => responses)),
		lost: calls
			.filter(([call, one]) => receivedBy(one).length > 0 && times[call] === undefined)
			.map(([call]) => call),
		twice: calls.filter(([call]) => (times[call] ?? 0) > 1).map(([call]) => call),
		rejected: calls.filter(
			([call, one]) => receivedBy(one).length === 0 && times[call] === undefined,
		).length,
		failures: starts.filter(({ status }) => status !== 'success').map(({ reason }) => reason),
		latencies: nextNode.map(latency),
		webhookLatencies: afterWebhook.map(latency),
	};
}

function databaseBytes({ stores }: QueueMode): number {
	const query = 'select pg_database_size(current_database())::float as bytes';
	return sized.parse(stores.query(query))[0]?.bytes ?? Number.NaN;
}

/** The figures of all blocks of a side. */
export function summarize(blocks: readonly Block[]) {
	const executions = sumBy(blocks, ({ latencies }) => latencies.length);
	const latencies = blocks.flatMap((block) => block.latencies);
	const webhook = blocks.flatMap((block) => block.webhookLatencies);
	const kinds = Object.keys(blocks[0]?.cpuMs ?? {});
	const responses: Record<string, number> = {};
	for (const block of blocks)
		for (const [response, count] of Object.entries(block.responses))
			responses[response] = (responses[response] ?? 0) + count;
	return {
		sent: sumBy(blocks, 'sent'),
		sent_to_all_processes: sumBy(blocks, 'repeated'),
		started: executions,
		lost: blocks.flatMap(({ lost }) => lost).length,
		started_twice: blocks.flatMap(({ twice }) => twice).length,
		rejected: sumBy(blocks, 'rejected'),
		failures: countBy(blocks.flatMap(({ failures }) => failures)),
		responses,
		p50_ms: quantile(latencies, 0.5),
		p99_ms: quantile(latencies, 0.99),
		max_ms: quantile(latencies, 1),
		...(webhook.length > 0 && {
			webhook_alone_p50_ms: quantile(webhook, 0.5),
			webhook_alone_p99_ms: quantile(webhook, 0.99),
		}),
		longest_settling_s: Math.max(...blocks.map(({ settlingSeconds }) => settlingSeconds)),
		cpu_ms_per_call: Object.fromEntries(
			kinds.map((kind) => [
				kind,
				Math.round((sumBy(blocks, ({ cpuMs }) => cpuMs[kind] ?? 0) / sumBy(blocks, 'sent')) * 10) /
					10,
			]),
		),
		database_kb_per_call:
			Math.round((sumBy(blocks, 'databaseBytes') / sumBy(blocks, 'sent') / 1024) * 10) / 10,
		load: blocks.map(({ load }) => Math.round(load * 100) / 100),
	};
}
