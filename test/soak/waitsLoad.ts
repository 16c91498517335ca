/** Executions of a sub-workflow in which Place Call waits, each for its own call. */
import { randomUUID } from 'node:crypto';
import { parse } from 'flatted';
import { z } from 'zod';
import { PACKAGE } from '../e2e/calls';
import { deliver } from '../e2e/sender';
import type { N8nDriver, Reference } from '../n8n/driver';
import type { Postgres } from '../n8n/postgres';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { fixtures } from '../simulator';

const TIMEOUT_MS = 60_000;
const FIRST_PHONE = 9_100_000_000;

/** Executions that a request starts. The next request follows when half of them have placed their call. */
const AT_ONCE = 20;

const counted = z.array(z.object({ status: z.string(), count: z.number() }));
const endedRows = z.array(z.object({ id: z.number(), status: z.string(), data: z.string() }));
const output = z.object({
	resultData: z.object({
		runData: z.record(
			z.array(
				z.object({
					data: z.object({
						main: z.array(
							z.array(z.object({ json: z.record(z.string(), z.unknown()) })).nullable(),
						),
					}),
				}),
			),
		),
	}),
});

/** An execution that has ended: the call that it waited for, how often the next node ran, and whether the time limit ended it. */
export type Ended = { callId: string; runs: number; timedOut: boolean; status: string };

/** A published workflow that calls a person and waits. Another one starts it for each person. */
export class WaitingWorkflow {
	private constructor(
		private readonly workflowId: string,
		private readonly url: string,
		private readonly database: Postgres,
	) {}

	static async publish(
		n8n: N8nDriver,
		server: N8nServer,
		database: Postgres,
		credentials: Record<string, Reference>,
		{ how, limitMinutes }: { how: 'webhook' | 'reading'; limitMinutes: number },
	): Promise<WaitingWorkflow> {
		const path = randomUUID();
		const settings = {
			waitForCompletion: how,
			waitLimit: limitMinutes,
			waitLimitUnit: 'minutes',
		};
		const place = node(
			'Place Call',
			`${PACKAGE}.placeCall`,
			1,
			{
				agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
				countryCode: 'IN',
				phoneNumber: '={{ $json.phone }}',
				...settings,
			},
			{ credentials },
		);
		const after = node('After', 'n8n-nodes-base.noOp', 1);
		const called = node('Called', 'n8n-nodes-base.executeWorkflowTrigger', 1.1, {
			inputSource: 'passthrough',
		});
		const child = await n8n.createWorkflow(chain('waits', called, place, after));
		await n8n.activate(child);
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
		const each = node('Each', 'n8n-nodes-base.executeWorkflow', 1.2, {
			workflowId: byId(child.id),
			mode: 'each',
			options: { waitForSubWorkflow: false },
		});
		const start = webhook(path, { responseMode: 'onReceived' });
		await n8n.activate(await n8n.createWorkflow(chain('starts', start, split, each)));
		return new WaitingWorkflow(child.id, `${server.baseUrl}/webhook/${path}`, database);
	}

	/** Starts an execution for each person, some at a time. @param placed how many calls there are already */
	async start(first: number, count: number, placed: () => number): Promise<void> {
		const before = placed();
		for (let started = 0; started < count; ) {
			const size = Math.min(AT_ONCE, count - started);
			const people = Array.from({ length: size }, (_, index) => ({
				phone: String(FIRST_PHONE + first + started + index),
			}));
			const response = await deliver(this.url, { people }, TIMEOUT_MS);
			if (response !== 200) throw new Error(`The start of executions got ${response}`);
			started += size;
			const enough = before + started - AT_ONCE / 2;
			await until('the calls', async () => Promise.resolve(placed() >= enough), {
				timeout: 120_000,
			});
		}
		await until('all calls', async () => Promise.resolve(placed() >= before + count), {
			timeout: 120_000,
		});
	}

	/** The number of executions by status. */
	statuses(): Record<string, number> {
		const query = `select status, count(*)::int as count from execution_entity
			where "workflowId" = '${this.workflowId}' group by status`;
		const rows = counted.parse(this.database.query(query));
		return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
	}

	ended(): Ended[] {
		const query = `select e.id, e.status, d.data from execution_entity e
			join execution_data d on d."executionId" = e.id
			where e."workflowId" = '${this.workflowId}' and e.status not in ('new', 'running', 'waiting')`;
		return endedRows.parse(this.database.query(query)).map(({ status, data }) => {
			const { runData } = output.parse(parse(data)).resultData;
			const runs = runData.After ?? [];
			const json = runs.at(-1)?.data.main[0]?.[0]?.json ?? {};
			const timedOut = json.timed_out === true;
			return { callId: String(json.call_id), runs: runs.length, timedOut, status };
		});
	}
}
