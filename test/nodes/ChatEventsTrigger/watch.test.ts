import { randomUUID } from 'node:crypto';
import { ObservableObject, type IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { ChatEventsListener } from '../../../nodes/ChatEventsTrigger/listener';
import { clock } from '../../../nodes/host/clock';
import {
	callWebhook,
	makeWorkflow,
	nodeTypes,
	passTime,
	speedUp,
	triggerContext,
} from '../../engine';
import { untilIdle } from '../../n8n/until';
import { chatHarness, eventually, sessions } from '../chatHarness';

const harness = chatHarness('chatEventsTrigger', {});
const WATCHING = { sessions: 'watched', watchSecret: 'sesame' };
const STORED = 'watchedSessions:trigger-node';

/** n8n's database. Each request reads the list of sessions from it and writes it back. */
const databaseShape = z.object({ global: z.record(z.array(z.unknown())).optional() });
let database: z.infer<typeof databaseShape> = {};
beforeEach(() => (database = {}));
const stored = () => database.global?.[STORED] ?? [];
const storing = (ids: unknown[]): IDataObject => ({ global: { [STORED]: ids } });

/** Sends a request to the watch URL of the trigger. `rawBody` replaces the JSON. */
async function post(
	body: unknown,
	{
		headers = { 'x-watch-secret': 'sesame' },
		mode = 'webhook',
		watchSecret = WATCHING.watchSecret,
		...raw
	}: {
		headers?: IDataObject;
		mode?: 'webhook' | 'manual';
		watchSecret?: string;
		rawBody?: Buffer;
	} = {},
): Promise<{ statusCode: number; body: unknown }> {
	const node = await harness.triggerNode({ ...WATCHING, watchSecret });
	const workflow = makeWorkflow([node]);
	workflow.id = 'workflow-of-trigger';
	// As n8n creates it from its database.
	workflow.staticData = ObservableObject.create(structuredClone(database), undefined, {
		ignoreEmptyOnFirstChild: true,
	});
	const request = { body, headers, ...raw };
	const { response, result } = await callWebhook(workflow, node, request, mode);
	if (workflow.staticData.__dataChanged === true) {
		const { __dataChanged, ...data } = workflow.staticData;
		database = databaseShape.parse(JSON.parse(JSON.stringify(data)));
	}
	const { statusCode, body: ownBody } = response;
	return result?.noWebhookResponse === true
		? { statusCode, body: ownBody }
		: { statusCode: 200, body: result?.webhookResponse };
}

const watch = async (...ids: string[]) => await post({ action: 'watch', session_ids: ids });
const madeUp = (count: number) => Array.from({ length: count }, () => randomUUID());
test('a watched session is connected immediately, again after a restart, and closed when it is unwatched', async () => {
	const active = await harness.publish(WATCHING);
	expect(harness.simulator().sessions.openSockets()).toBe(0);
	expect(await watch(sessions.open)).toEqual({ statusCode: 200, body: { watched: true } });
	await harness.connected(1);
	harness.simulator().sessions.nudge(sessions.open);
	await eventually(() => active.emitted.length === 1);
	await watch(sessions.dormant, sessions.open.toUpperCase());
	await harness.connected(2);
	expect(stored()).toEqual([sessions.open, sessions.dormant]);
	await active.stop();
	await harness.connected(0);
	await harness.publish(WATCHING, 'init', structuredClone(database));
	await harness.connected(2);
	expect(await post({ action: 'unwatch', session_ids: [sessions.open] })).toEqual({
		statusCode: 200,
		body: { watched: false },
	});
	await harness.connected(1);
	expect(harness.simulator().sessions.openSockets(sessions.dormant)).toBe(1);
	expect(stored()).toEqual([sessions.dormant]);
});

test('concurrent requests lose no session', async () => {
	await harness.publish(WATCHING);
	const { sessions: control } = harness.simulator();
	const many = Array.from({ length: 10 }, () => control.create().sessionId);
	await Promise.all(many.map(async (id) => await watch(id)));
	expect(new Set(stored())).toEqual(new Set(many));
	await harness.connected(10);
	expect(many.map((id) => control.openSockets(id))).toEqual(many.map(() => 1));
});

test('a closed session is removed from the list with the next request', async () => {
	const active = await harness.publish(WATCHING);
	await watch(sessions.open);
	await harness.connected(1);
	const { requests, sessions: control } = harness.simulator();
	control.close(sessions.open);
	await eventually(() => requests.at(-1)?.outcome.status === 409);
	await clock.sleep(1_000);
	// As docs/personal-data.md says.
	expect(stored()).toEqual([sessions.open]);
	await watch(sessions.dormant);
	expect(stored()).toEqual([sessions.dormant]);
	await active.stop();
	expect(active.failed).toEqual([]);
});

test('a session with a final failure is removed, too, and followed again as its report says, not when the workflow is published', async () => {
	const active = await harness.publish(WATCHING);
	await watch(sessions.open);
	await harness.connected(1);
	harness.loseForGood(sessions.open);
	await harness.reported(active);
	expect(active.failed[0]).toMatchObject({
		message: expect.stringContaining(sessions.open),
		description: expect.stringMatching(
			/ A session that was watched needs Chat Session > Watch instead\.$/,
		),
	});
	await watch(sessions.dormant);
	expect(stored()).toEqual([sessions.dormant]);
	harness.simulator().faults.clear();
	await active.stop();
	await harness.publish(WATCHING, 'update', structuredClone(database));
	await harness.connected(1);
	expect(harness.simulator().sessions.openSockets(sessions.dormant)).toBe(1);
	await watch(sessions.open);
	await harness.connected(2);
});

test('a request reaches the trigger of its URL, even if others are active', async () => {
	const first = await harness.publish(WATCHING);
	const other = await harness.publish(WATCHING, 'activate', {}, { id: 'other' });
	await watch(sessions.open);
	await harness.connected(1);
	harness.simulator().sessions.nudge(sessions.open);
	await eventually(() => first.emitted.length === 1);
	expect(other.emitted).toEqual([]);
	await other.stop();
	expect(await watch(sessions.dormant)).toMatchObject({ statusCode: 200 });
	await harness.connected(2);
});

test("closing a trigger doesn't deactivate its successor", async () => {
	const node = await harness.triggerNode(WATCHING);
	const workflow = makeWorkflow([node]);
	workflow.id = 'workflow-of-trigger';
	const type = nodeTypes.getByNameAndVersion(node.type);
	const opened = async () => await type.trigger?.call(triggerContext(workflow, node));
	const [former, successor] = [await opened(), await opened()];
	await former?.closeFunction?.();
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 200 });
	await harness.connected(1);
	await successor?.closeFunction?.();
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 503 });
});

test("watched sessions can't be tested in the editor", async () => {
	const { workflow } = await harness.publish(WATCHING);
	const node = await harness.triggerNode(WATCHING);
	const context = triggerContext(workflow, node, 'manual');
	const testing = nodeTypes.getByNameAndVersion(node.type).trigger?.call(context);
	await expect(testing).rejects.toMatchObject({
		message: "Watched sessions can't be tested in the editor",
		description: expect.stringContaining("set 'Sessions' to 'Listed'"),
	});
});

test("an internal error isn't reported as a rejection", async () => {
	await harness.publish(WATCHING);
	jest.spyOn(ChatEventsListener.prototype, 'follow').mockImplementation(() => {
		throw new TypeError('a bug');
	});
	await expect(watch(sessions.open)).rejects.toThrow('a bug');
});

describe('rejected', () => {
	const incomplete = 'The request needs "action" ("watch" or "unwatch") and "session_ids"';
	const { open } = sessions;
	test.each([
		['{"action":', incomplete],
		[`{"session_ids":["${open}"]}`, incomplete],
		['{"action":"watch"}', incomplete],
		['{"action":"watch","session_ids":[null]}', incomplete],
		['{"action":"watch","session_ids":{"a":1}}', 'must list session IDs (got "{"a":1}")'],
	])('%s: only in the response', async (body, message) => {
		const active = await harness.publish(WATCHING);
		expect(await post(undefined, { rawBody: Buffer.from(body) })).toEqual({
			statusCode: 400,
			body: { message: expect.stringContaining(message), resolution: expect.any(String) },
		});
		expect(stored()).toEqual([]);
		await active.stop();
		expect(active.failed).toEqual([]);
	});

	test('a wrong secret', async () => {
		await harness.publish(WATCHING);
		const headers = { 'x-watch-secret': 'wrong' };
		const response = await post({ action: 'watch', session_ids: [sessions.open] }, { headers });
		expect(response).toEqual({
			statusCode: 403,
			body: {
				message: 'The Chat Events Trigger rejected the secret',
				resolution:
					"Enter the text of 'Secret' in the Chat Events Trigger as 'Trigger Secret' of Chat Session > Watch.",
			},
		});
		expect(harness.simulator().sessions.openSockets()).toBe(0);
		expect((await watch(sessions.open)).statusCode).toBe(200);
		await harness.connected(1);
	});

	test.each(['={{ $vars.none }}', '={{ "" }}'])(
		'each request while the secret %s returns none',
		async (watchSecret) => {
			await harness.publish(WATCHING);
			for (const headers of [{}, { 'x-watch-secret': '' }, { 'x-watch-secret': 'sesame' }]) {
				const body = { action: 'watch', session_ids: [sessions.open] };
				expect(await post(body, { headers, watchSecret })).toEqual({
					statusCode: 400,
					body: {
						message: expect.stringMatching(/^'Secret' (is empty|must be text or a number)/),
						resolution: expect.stringMatching(/^Enter /),
					},
				});
			}
			expect(harness.simulator().sessions.openSockets()).toBe(0);
		},
	);

	test('by a trigger with listed sessions or in another process', async () => {
		await harness.publish({ sessionIds: sessions.dormant });
		expect(await watch(sessions.open)).toMatchObject({
			statusCode: 503,
			body: {
				message: "The Chat Events Trigger isn't active in this n8n process, so nothing was saved",
				resolution: expect.stringMatching(
					/^Try again in a moment\. .* unpublish the workflow of the trigger, then publish it, and use its Production URL\. .* the main process must serve this URL\.$/,
				),
			},
		});
	});

	test('by a test in the editor, also while the workflow is published', async () => {
		await harness.publish(WATCHING);
		const body = { action: 'watch', session_ids: [sessions.open] };
		expect((await post(body, { mode: 'manual' })).statusCode).toBe(503);
		expect(harness.simulator().sessions.openSockets()).toBe(0);
	});
});

test.each([
	['watched', 'POST'],
	['listed', ''],
])('the node has a URL only for watched sessions: %s', async (which, method) => {
	const node = await harness.triggerNode(
		{ sessions: which, sessionIds: sessions.open },
		{ webhookId: 'abc' },
	);
	const workflow = makeWorkflow([node]);
	const { description, webhookMethods } = nodeTypes.getByNameAndVersion(node.type);
	const httpMethod = description.webhooks?.[0]?.httpMethod;
	expect(workflow.expression.getSimpleParameterValue(node, httpMethod, 'internal', {})).toBe(
		method,
	);
	expect(Object.keys(webhookMethods?.default ?? {})).toEqual(['checkExists', 'create', 'delete']);
});

test('connects 100 sessions, 20 at the same time', async () => {
	speedUp(0);
	await harness.publish(WATCHING);
	const service = harness.simulator();
	const ids = Array.from({ length: 100 }, () => service.sessions.create().sessionId);
	const release = service.holdResponses();
	expect(await watch(...ids)).toEqual({ statusCode: 200, body: { watched: true } });
	await eventually(() => service.stats().maxActive === 20);
	await untilIdle();
	release();
	speedUp(50);
	await harness.connected(100);
	expect(service.stats().maxActive).toBe(20);
	expect(stored()).toEqual(ids);
});

test('sessions that wait to connect after a restart can be unwatched', async () => {
	const service = harness.simulator();
	const release = service.holdResponses();
	const ids = Array.from({ length: 60 }, () => service.sessions.create().sessionId);
	await harness.publish(WATCHING, 'init', storing(ids));
	const last = ids.slice(-20);
	expect(await post({ action: 'unwatch', session_ids: last })).toMatchObject({ statusCode: 200 });
	release();
	await harness.connected(40);
	passTime(60_000);
	await untilIdle();
	expect(last.map((id) => service.sessions.openSockets(id))).toEqual(last.map(() => 0));
});

test('a trigger watches at most 1,000 sessions', async () => {
	const { faults } = harness.simulator();
	// While the service is unreachable, made-up sessions can't be recognized.
	faults.respond(/ws_token/, 503);
	speedUp(1_000);
	await harness.publish(WATCHING, 'init', storing(madeUp(1_200)));
	expect(await watch(sessions.open)).toEqual({
		statusCode: 400,
		body: {
			message: 'The Chat Events Trigger can watch at most 1,000 sessions (it watches 1,000)',
			resolution:
				'Unwatch sessions that are no longer needed, or use another Chat Events Trigger for more sessions.',
		},
	});
});
