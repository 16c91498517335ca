import { setTimeout as sleep } from 'node:timers/promises';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { querySqlite } from '../n8n/sqlite';
import { until } from '../n8n/until';
import { chain, node } from '../n8n/workflow';
import type { Simulator } from '../simulator';

/** Publishes a workflow that starts for the events of these sessions, and then does this work. */
export async function listenTo(
	server: N8nServer,
	simulator: Simulator,
	ids: string[],
	parameters: INodeParameters = {},
	work: INode = node('Work', 'n8n-nodes-base.noOp', 1),
): Promise<Workflow> {
	const n8n = await N8nDriver.signIn(server.baseUrl);
	const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
	const trigger = node(
		'Chat Events Trigger',
		'n8n-nodes-voice-chat-agent.chatEventsTrigger',
		1,
		{ sessionIds: ids.join(', '), ...parameters },
		{ credentials: { [CREDENTIAL]: credential } },
	);
	const workflow = await n8n.createWorkflow(chain('chat events', trigger, work));
	await n8n.activate(workflow);
	await allConnected(simulator, ids);
	await published(server, workflow);
	return workflow;
}

/** Waits for the publication, which continues after the request. If n8n is killed before, it resumes only minutes later. */
export async function published({ home }: Home, { id }: Workflow): Promise<void> {
	// Older n8n versions have no such table, because the publication ends with the request.
	const table = `select name from sqlite_master where name = 'workflow_publication_outbox'`;
	if (querySqlite(home, table).length === 0) return;
	const pending = `select status from workflow_publication_outbox where workflowId = ? and status <> 'completed'`;
	const isDone = () => querySqlite(home, pending, id).length === 0;
	await until('the publication to be complete', async () => Promise.resolve(isDone()));
}

type Home = Pick<N8nServer, 'home'>;

/** n8n activates its workflows some time after it starts to respond. */
export async function allConnected(simulator: Simulator, ids: string[]): Promise<void> {
	const connected = () => ids.every((id) => simulator.sessions.openSockets(id) > 0);
	await until('every socket', async () => Promise.resolve(connected()), { timeout: 120_000 });
}

type Stored = { status: string; data: string };
const storedRows = z.array(z.object({ status: z.string(), data: z.string() }));

/** The executions in n8n's database, after all are complete or nothing has changed for a while. */
export async function settled(
	server: N8nServer,
	{ id }: Workflow,
	sent: string[],
): Promise<Stored[]> {
	let rows = readExecutions(server, id);
	for (let quiet = 0; quiet < 20; quiet++) {
		await sleep(500);
		const now = readExecutions(server, id);
		const busy = now.some(({ status }) => status === 'new' || status === 'running');
		if (now.length > rows.length || busy) quiet = 0;
		if (now.length >= sent.length && !busy && quiet >= 4) return now;
		rows = now;
	}
	return rows;
}

function readExecutions({ home }: Home, workflowId: string): Stored[] {
	const query = `select e.status as status, d.data as data from execution_entity e
		join execution_data d on d.executionId = e.id where e.workflowId = ?`;
	return storedRows.parse(querySqlite(home, query, workflowId));
}

export function evaluate(sent: string[], stored: Stored[]) {
	const times = new Map(sent.map((eventId) => [eventId, 0]));
	const byStatus: Record<string, number> = {};
	for (const { status, data } of stored) {
		byStatus[status] = (byStatus[status] ?? 0) + 1;
		const [, eventId = 'none'] = /"(evt_\d+)"/.exec(data) ?? [];
		times.set(eventId, (times.get(eventId) ?? 0) + 1);
	}
	const eventsWith = (wanted: (count: number) => boolean) =>
		[...times].filter(([, count]) => wanted(count)).map(([eventId]) => eventId);
	return {
		sent: sent.length,
		executions: stored.length,
		lost: eventsWith((count) => count === 0),
		duplicates: eventsWith((count) => count > 1),
		byStatus,
	};
}
