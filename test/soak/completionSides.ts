/** Call Completed Trigger and n8n's own nodes for the same completed calls, each in a workflow. */
import { randomUUID } from 'node:crypto';
import { parse } from 'flatted';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { spansIn, type Span } from '../bench/executions';
import { http, type Target } from '../bench/workflows';
import { PACKAGE } from '../e2e/calls';
import type { N8nDriver } from '../n8n/driver';
import type { QueueMode } from '../n8n/queueMode';
import { chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { filled } from '../simulator';

/** `core_once`: n8n's nodes with Remove Duplicates. */
export const SIDES = ['ours', 'core', 'core_once'] as const;
export type SideName = (typeof SIDES)[number];

const NUMBER_OF_CALL = /"6f1c2a34-0000-4000-8000-000001(\d{6})"/;

const failure = z.object({
	resultData: z.object({ error: z.object({ message: z.string() }).passthrough().optional() }),
});

const storedRows = z.array(z.object({ status: z.string(), data: z.string() }));
const ids = z.array(z.object({ id: z.number() }));

/** An execution of a completed call, with the reason why it failed, and the start times of its nodes. */
export type Start = { status: string; reason: string; call: number | undefined; spans: Span[] };

/** A published workflow that gets completed calls. */
export class Side {
	private constructor(
		readonly name: SideName,
		private readonly workflowId: string,
		private readonly path: string,
		private readonly queue: QueueMode,
	) {}

	static async publish(
		name: SideName,
		n8n: N8nDriver,
		queue: QueueMode,
		target: Target,
	): Promise<Side> {
		const id = randomUUID();
		const path = isCore(name) ? id : `${id}/call-completed`;
		const workflow = await n8n.createWorkflow(workflowOf(name, id, target));
		await n8n.activate(workflow);
		return new Side(name, workflow.id, `/webhook/${path}`, queue);
	}

	/** Whether a call that is delivered repeatedly starts the workflow once. */
	get isOnce(): boolean {
		return this.name !== 'core';
	}

	/** The URL in each process that gets deliveries. */
	get urls(): string[] {
		return this.queue.webhooks.map(({ baseUrl }) => `${baseUrl}${this.path}`);
	}

	completion(call: number) {
		return { call_id: filled.callId(call), status: 'picked' };
	}

	/** The ID of the newest execution, or 0. */
	last(): number {
		const query = `select coalesce(max(id), 0) as id from execution_entity where "workflowId" = '${this.workflowId}'`;
		return ids.parse(this.queue.stores.query(query))[0]?.id ?? 0;
	}

	/** How many executions after an earlier one there are, and how many of them haven't ended. */
	counts(after: number): { all: number; open: number } {
		const query = `select count(*)::int as all, count(*) filter (where status in ('new', 'running', 'waiting'))::int as open
			from execution_entity where "workflowId" = '${this.workflowId}' and id > ${after}`;
		const counted = z.array(z.object({ all: z.number(), open: z.number() })).length(1);
		return counted.parse(this.queue.stores.query(query))[0] ?? { all: 0, open: 0 };
	}

	starts(after: number): Start[] {
		const query = `select e.status, d.data from execution_entity e join execution_data d on d."executionId" = e.id
			where e."workflowId" = '${this.workflowId}' and e.id > ${after}`;
		return storedRows.parse(this.queue.stores.query(query)).map(({ status, data }) => {
			const number = NUMBER_OF_CALL.exec(data)?.[1];
			const call = number === undefined ? undefined : Number(number);
			if (status === 'success') return { status, reason: '', call, spans: spansIn(data) };
			const { error } = failure.parse(parse(data)).resultData;
			return { status, reason: `${status}: ${error?.message ?? ''}`, call, spans: [] };
		});
	}
}

const isCore = (name: SideName) => name.startsWith('core');

/** n8n's node that recognizes values of earlier executions. */
const removeDuplicates = () =>
	node('Once', 'n8n-nodes-base.removeDuplicates', 2, {
		operation: 'removeItemsSeenInPreviousExecutions',
		logic: 'removeItemsWithAlreadySeenKeyValues',
		dedupeValue: '={{ $json.data.call_id }}',
	});

/** n8n's own nodes read the call, too, because a delivery alone proves nothing. */
function workflowOf(name: SideName, id: string, target: Target): WorkflowJson {
	const after = node('After', 'n8n-nodes-base.noOp', 1);
	if (isCore(name)) {
		const begin = webhook(id, { responseMode: 'onReceived' });
		const read = http('=/v1/call/{{ $json.body.call_id }}', {}, target);
		return chain(name, begin, read, ...(name === 'core_once' ? [removeDuplicates()] : []), after);
	}
	const rest = { webhookId: id, credentials: { [CREDENTIAL]: target.ours } };
	return chain(name, node('Trigger', `${PACKAGE}.callCompletedTrigger`, 2, {}, rest), after);
}
