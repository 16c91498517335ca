/** Requests from strangers to webhooks, with any body, headers, and secret. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { IDataObject, INodeParameters, NodeParameterValueType } from 'n8n-workflow';
import {
	activate,
	callWebhook,
	engineHarness,
	makeWorkflow,
	nodeTypes,
	skipSleeps,
	webhookContext,
	webhookTrigger,
} from '../engine';
import { fixtures } from '../simulator';
import { useSimulator } from '../simulator/testing/useSimulator';
import { corrupt, corruptions } from './corruption';
import { nextDialect, RUNS, TIMEOUT_MS } from './runs';

const { finished } = fixtures.calls;
const harness = engineHarness();
const simulator = useSimulator({ dialect: nextDialect() });

jest.setTimeout(TIMEOUT_MS);
afterEach(() => {
	expect(Object.keys(Object.prototype)).toEqual([]);
	jest.restoreAllMocks();
});

const access = () => ({ baseUrl: simulator().baseUrl, apiToken: simulator().token });

const headers = fc.dictionary(
	fc.constantFrom('content-type', 'content-encoding', 'x-watch-secret', '__proto__', 'host', 'x-x'),
	fc.oneof(
		fc.string(),
		fc.constantFrom(
			'application/xml',
			'multipart/form-data; boundary=x',
			'gzip',
			'x'.repeat(9_000),
		),
	),
);

/** Requests with this body, most of which are corrupt. */
async function assertForAll(
	originals: fc.Arbitrary<object>,
	check: (request: { rawBody: Buffer; headers: Record<string, string> }) => Promise<void>,
): Promise<void> {
	const bodies = fc.tuple(originals, fc.option(corruptions)).map(([original, harm]) => {
		const bytes = Buffer.from(JSON.stringify(original));
		return harm === null ? bytes : corrupt(bytes, harm);
	});
	const property = fc.asyncProperty(bodies, headers, async (rawBody, sent) => {
		await check({ rawBody, headers: sent });
	});
	await fc.assert(property, { numRuns: RUNS, includeErrorInReport: true });
}

test('Call Completed Trigger passes on only the record of the service, whatever is delivered', async () => {
	// Repeated reads and their time limits take no time.
	skipSleeps();
	let passedOn = 0;
	const node = await harness.nodeWith(access(), 'callCompletedTrigger');
	const { deliver } = webhookTrigger(node);
	const calls = fc.constantFrom(finished, '6f1c2a34-0000-4000-8000-999999999999', 'not an id');
	const madeUp = { status: 'failed', summary: 'made up', retry_count: 99 };
	const reports = calls.map((callId) => ({ call_id: callId, ...madeUp }));
	await assertForAll(reports, async ({ rawBody }) => {
		const { response, execution, items } = await deliver({ rawBody, body: undefined });
		passedOn += items.length;
		expect(execution?.data.resultData.error).toBeUndefined();
		expect(items.every(({ call_id: callId }) => callId === finished)).toBe(true);
		expect(items.filter(({ summary }) => summary === 'made up')).toEqual([]);
		expect([200, 400]).toContain(response.statusCode);
		const body = JSON.stringify(response.body ?? '');
		expect(body.length).toBeLessThan(300);
		expect(body).not.toMatch(/made up|<|polluted/);
	});
	expect(passedOn).toBeGreaterThan(0);
});

test('the watch URL of Chat Events Trigger rejects any request from a stranger, and stores nothing of it', async () => {
	const type = 'chatEventsTrigger';
	const node = await harness.nodeWith(access(), type, {
		id: type,
		parameters: { sessions: 'watched', watchSecret: 'sesame' },
		webhookId: 'hook',
	});
	const workflow = makeWorkflow([node]);
	const active = await activate(workflow);
	const original = { action: 'watch', session_ids: [randomUUID(), randomUUID()] };
	await assertForAll(fc.constant(original), async (request) => {
		const { response, result } = await callWebhook(workflow, node, request);
		expect([result?.noWebhookResponse, response.statusCode]).toEqual([true, 403]);
		expect(JSON.stringify(response.body).length).toBeLessThan(600);
		expect(result?.workflowData).toBeUndefined();
	});
	expect(simulator().sessions.openSockets()).toBe(0);
	expect(JSON.stringify(workflow.staticData)).not.toMatch(/[0-9a-f]{8}-/);
	expect([...active.errors, ...active.failed, ...active.emitted]).toEqual([]);
	await active.stop();
});

/** The value of the Secret field, and the text that is accepted. Null if no text is accepted. */
type Setting = { set: NodeParameterValueType; accepts: string | null };

/** Values of the field, some of an expression, with which no text is accepted. */
const UNUSABLE: NodeParameterValueType[] = [
	...['null', 'undefined', '""', '"  "', 'NaN', '1 / 0', 'true', '[]', '["sesame"]'].map(
		expression,
	),
	...['({ secret: "sesame" })', 'new Date(0)', '$now', '$json.secret'].map(expression),
	...['$vars.secret', '$("Nowhere").first().json.secret'].map(expression),
	...['=', '   ', false, [], {}, Number.NaN, 2 ** 60],
];

const USABLE: Setting[] = [
	{ set: expression('12345'), accepts: '12345' },
	{ set: expression('0'), accepts: '0' },
	{ set: expression('"sesame"'), accepts: 'sesame' },
	{ set: expression('"sesame" + "\\n"'), accepts: 'sesame' },
	{ set: 12345, accepts: '12345' },
	{ set: 'sesame', accepts: 'sesame' },
];

function expression(code: string): string {
	return `={{ ${code} }}`;
}

const texts = fc
	.string({ minLength: 1, maxLength: 40 })
	.filter((text) => text.trim() === text && !text.startsWith('='));

const settings: fc.Arbitrary<Setting> = fc.oneof(
	fc.constantFrom(...USABLE, ...UNUSABLE.map((set) => ({ set, accepts: null }))),
	texts.map((text) => ({ set: text, accepts: text })),
);

/** Guesses of a stranger, including the texts of empty and invalid values. */
const guesses: fc.Arbitrary<unknown> = fc.oneof(
	fc.constantFrom<unknown>(
		...[undefined, null, '', ' ', 'null', 'undefined', 'NaN', 'Infinity', 'true', 'false'],
		...['[object Object]', 'sesame', '0', '12345', ['sesame'], { secret: 'sesame' }],
	),
	texts,
);

type SecretUrl = {
	type: string;
	parameters: (secret: NodeParameterValueType) => INodeParameters;
	request: (secret: unknown) => IDataObject;
	/** Whether the status means that the secret was accepted. No trigger is active here. */
	isAccepted: (status: number) => boolean;
};

const given = (secret: unknown) => (secret === undefined ? {} : { secret });
const WATCHING: SecretUrl = {
	type: 'chatEventsTrigger',
	parameters: (watchSecret) => ({ sessions: 'watched', watchSecret }),
	request: (secret) => ({ headers: secret === undefined ? {} : { 'x-watch-secret': secret } }),
	isAccepted: (status) => status === 503,
};
const SECRET_URLS: Record<string, SecretUrl> = {
	'the watch URL of Chat Events Trigger': WATCHING,
	'Chat Delivery Trigger': {
		type: 'chatDeliveryTrigger',
		parameters: (secret) => ({ secret }),
		request: (secret) => ({ query: given(secret) }),
		isAccepted: (status) => status === 200,
	},
};

/** The status of the response in a manual test, in which each request ends immediately. */
async function statusOf(
	address: SecretUrl,
	set: NodeParameterValueType,
	guess: unknown,
): Promise<number> {
	const node = harness.node(address.type, { parameters: address.parameters(set) });
	const workflow = makeWorkflow([node]);
	const request = { body: { action: 'unwatch' }, ...address.request(guess) };
	const { context, response } = webhookContext(workflow, node, request, 'manual');
	try {
		await nodeTypes.getByNameAndVersion(node.type).webhook?.call(context);
		return response.statusCode;
	} catch {
		// n8n shows a secret that can't be used in a failed execution.
		return 500;
	}
}

test.each(['', null, undefined])(
	'an empty Secret field (%j) accepts all requests, or none if the secret is required',
	async (set) => {
		for (const address of Object.values(SECRET_URLS)) {
			for (const guess of [undefined, '', 'null', 'undefined', 'sesame']) {
				const status = await statusOf(address, set, guess);
				expect(address.isAccepted(status)).toBe(address !== WATCHING);
			}
		}
	},
);

test.each(Object.entries(SECRET_URLS))(
	'%s accepts only the secret, whatever its field or expression returns',
	async (_name, address) => {
		let accepted = 0;
		const property = fc.asyncProperty(
			settings,
			guesses,
			fc.boolean(),
			async ({ set, accepts }, guess, isOwner) => {
				const sent = isOwner && accepts !== null ? accepts : guess;
				const isAccepted = address.isAccepted(await statusOf(address, set, sent));
				accepted += Number(isAccepted);
				const fits = accepts !== null && String(sent) === accepts && typeof sent !== 'object';
				expect(isAccepted).toBe(fits);
			},
		);
		await fc.assert(property, { numRuns: RUNS, includeErrorInReport: true });
		expect(accepted).toBeGreaterThan(0);
	},
);

test.each([
	[
		'chatDeliveryTrigger',
		{ secret: '={{ null }}' },
		"'Secret' must be text or a number (got nothing)",
	],
	['chatDeliveryTrigger', { secret: '  ' }, "'Secret' must be text or a number (got nothing)"],
	['chatEventsTrigger', { sessions: 'watched', watchSecret: '  ' }, "'Secret' is empty"],
	['chatEventsTrigger', { sessions: 'watched', watchSecret: '' }, 'Secret'],
	// n8n then drops the secret.
	[
		'chatEventsTrigger',
		{ sessions: '={{ "watched" }}', watchSecret: 'x' },
		"'Sessions' must be a value without expressions",
	],
])('%s is not published with %j', async (type, parameters, message) => {
	const workflow = makeWorkflow([harness.node(type, { parameters })]);
	await expect(activate(workflow)).rejects.toThrow(message);
});
