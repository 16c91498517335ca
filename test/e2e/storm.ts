import { setTimeout as sleep } from 'node:timers/promises';
import countBy from 'lodash/countBy';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { querySqlite } from '../n8n/sqlite';
import { until } from '../n8n/until';
import { chain, node } from '../n8n/workflow';
import { fixtures, type Simulator } from '../simulator';
import { PACKAGE } from './calls';

/** n8n is killed once (`kill -9`) and started again, and every tenth event cuts the sockets of a session. */
const EVENTS = 200;
const SESSIONS = 5;
const CUT_EVERY = 10;
const EVERY_MS = 25;

/** Sends chat events to a published workflow while random sockets are cut and n8n is killed and started again. */
export async function storm(server: N8nServer, simulator: Simulator) {
	const ids = Array.from({ length: SESSIONS }, () => simulator.sessions.create().sessionId);
	const workflow = await listenTo(server, simulator, ids);
	const sent: string[] = [];
	let restarted: Promise<void> = Promise.resolve();
	for (let n = 0; n < EVENTS; n++) {
		sent.push(simulator.sessions.nudge(pick(ids), n));
		if (n % CUT_EVERY === 0) simulator.sessions.cutSockets(pick(ids));
		if (n === EVENTS / 2) restarted = restart(server);
		await sleep(EVERY_MS);
	}
	await restarted;
	await allConnected(simulator, ids);
	return evaluate(sent, await settled(server, workflow, sent.length));
}

async function restart(server: N8nServer): Promise<void> {
	await server.kill();
	await server.boot();
}

/** Publishes a workflow that starts for the events of these sessions. */
async function listenTo(server: N8nServer, simulator: Simulator, ids: string[]): Promise<Workflow> {
	const n8n = await N8nDriver.signIn(server.baseUrl);
	const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
	const credentials = { [CREDENTIAL]: credential };
	const parameters = { sessionIds: ids.join(', ') };
	const type = `${PACKAGE}.chatEventsTrigger`;
	const trigger = node('Chat Events Trigger', type, 1, parameters, { credentials });
	const workflow = await n8n.createWorkflow(
		chain('storm', trigger, node('Work', 'n8n-nodes-base.noOp', 1)),
	);
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
async function allConnected(simulator: Simulator, ids: string[]): Promise<void> {
	const connected = () => ids.every((id) => simulator.sessions.openSockets(id) > 0);
	await until('every socket', async () => Promise.resolve(connected()), { timeout: 120_000 });
}

const storedRows = z.array(z.object({ status: z.string(), data: z.string() }));
type Stored = z.infer<typeof storedRows>;

/** The executions in n8n's database, after all are complete or nothing has changed for a while. */
async function settled({ home }: Home, { id }: Workflow, expected: number): Promise<Stored> {
	const query = `select e.status as status, d.data as data from execution_entity e
		join execution_data d on d.executionId = e.id where e.workflowId = ?`;
	let rows: Stored = [];
	for (let quiet = 0; quiet < 20; quiet++) {
		await sleep(500);
		const now = storedRows.parse(querySqlite(home, query, id));
		const busy = now.some(({ status }) => status === 'new' || status === 'running');
		if (now.length > rows.length || busy) quiet = 0;
		rows = now;
		if (now.length >= expected && !busy && quiet >= 4) break;
	}
	return rows;
}

function evaluate(sent: readonly string[], stored: Stored) {
	const times = countBy(stored, ({ data }) => /"(evt_\d+)"/.exec(data)?.[1] ?? 'none');
	return {
		sent: sent.length,
		lost: sent.filter((eventId) => times[eventId] === undefined),
		duplicates: Object.keys(times).filter((eventId) => (times[eventId] ?? 0) > 1),
	};
}

function pick(ids: string[]): string {
	return ids[Math.floor(Math.random() * ids.length)] ?? fixtures.sessions.open;
}
