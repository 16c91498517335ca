import fc from 'fast-check';
import type { IDataObject, INodeParameters, NodeParameterValueType } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { engineHarness, makeWorkflow, nodeTypes, webhookContext } from '../engine';
import { MANY_RUNS, printCounts } from './runs';

/** A secret as the workflow's owner set it, and the text that opens the address; null if nothing does. */
type Setting = { set: NodeParameterValueType; opens: string | null };

const harness = engineHarness();

/** Values that an expression may give where its author expects text. */
const EXPRESSIONS: Setting[] = [
	{ set: '={{ null }}', opens: null },
	{ set: '={{ undefined }}', opens: null },
	{ set: '={{ "" }}', opens: null },
	{ set: '={{ "  " }}', opens: null },
	{ set: '=', opens: null },
	{ set: '={{ NaN }}', opens: null },
	{ set: '={{ 1 / 0 }}', opens: null },
	{ set: '={{ true }}', opens: null },
	{ set: '={{ [] }}', opens: null },
	{ set: '={{ ["sesame"] }}', opens: null },
	{ set: '={{ ({ secret: "sesame" }) }}', opens: null },
	{ set: '={{ new Date(0) }}', opens: null },
	{ set: '={{ $now }}', opens: null },
	{ set: '={{ $json.secret }}', opens: null },
	{ set: '={{ $vars.secret }}', opens: null },
	{ set: '={{ $("Nowhere").first().json.secret }}', opens: null },
	{ set: '={{ 12345 }}', opens: '12345' },
	{ set: '={{ 0 }}', opens: '0' },
	{ set: '={{ "sesame" }}', opens: 'sesame' },
	{ set: '={{ "sesame" + "\\n" }}', opens: 'sesame' },
];

const FIXED: Setting[] = [
	{ set: '   ', opens: null },
	{ set: false, opens: null },
	{ set: [], opens: null },
	{ set: {}, opens: null },
	{ set: Number.NaN, opens: null },
	{ set: 2 ** 60, opens: null },
	{ set: 12345, opens: '12345' },
	{ set: 'sesame', opens: 'sesame' },
];

/** Fields that n8n reads as empty: no secret is wanted. */
const EMPTY: NodeParameterValueType[] = ['', null, undefined];

const texts = fc
	.string({ minLength: 1, maxLength: 40 })
	.filter((text) => text.trim() === text && !text.startsWith('='));

const settings: fc.Arbitrary<Setting> = fc.oneof(
	fc.constantFrom(...EXPRESSIONS, ...FIXED),
	texts.map((text) => ({ set: text, opens: text })),
);

/** What a stranger tries, the texts of values that are none among them. */
const guesses: fc.Arbitrary<unknown> = fc.oneof(
	fc.constantFrom<unknown>(
		undefined,
		null,
		'',
		' ',
		'null',
		'undefined',
		'NaN',
		'Infinity',
		'true',
		'false',
		'[object Object]',
		'sesame',
		'0',
		'12345',
		['sesame'],
		{ secret: 'sesame' },
	),
	texts,
);

type Address = {
	type: string;
	parameters: (secret: NodeParameterValueType) => INodeParameters;
	request: (secret: unknown) => IDataObject;
	/** What is answered to somebody whom the secret lets in, as no trigger is active here. */
	letIn: (status: number) => boolean;
};

const given = (secret: unknown) => (secret === undefined ? {} : { secret });
const WATCHING: Address = {
	type: 'chatEventsTrigger',
	parameters: (watchSecret) => ({ watchSessions: true, watchSecret }),
	request: (secret) => ({ headers: secret === undefined ? {} : { 'x-watch-secret': secret } }),
	letIn: (status) => status === 409,
};
const ADDRESSES: Record<string, Address> = {
	'the watch address of Chat Events Trigger': WATCHING,
	'Chat Delivery Trigger with a secret in its path': {
		type: 'chatDeliveryTrigger',
		parameters: (secret) => ({ secretIn: 'path', secret }),
		request: (secret) => ({ params: given(secret) }),
		letIn: (status) => status === 200,
	},
	'Chat Delivery Trigger with a secret in its query': {
		type: 'chatDeliveryTrigger',
		parameters: (secret) => ({ secretIn: 'query', secret }),
		request: (secret) => ({ query: given(secret) }),
		letIn: (status) => status === 200,
	},
};

const credentials = async () => ({
	[CREDENTIAL]: await harness.addCredential({
		baseUrl: 'https://x.example',
		apiToken: 'a'.repeat(16),
	}),
});

/** The status of the answer, in the editor's test, where each request ends at once. */
async function statusOf(address: Address, { set }: Setting, guess: unknown): Promise<number> {
	const parameters = address.parameters(set);
	const node = harness.node(address.type, { parameters, credentials: await credentials() });
	const workflow = makeWorkflow([node]);
	const request = { body: { action: 'unwatch' }, ...address.request(guess) };
	const { context, response } = webhookContext(
		harness.credentials,
		workflow,
		node,
		request,
		'manual',
	);
	await nodeTypes.getByNameAndVersion(node.type).webhook?.call(context);
	return response.statusCode;
}

test.each(EMPTY)(
	'an empty field (%j) asks for no secret at the watch address, and lets nobody in where a place for it is chosen',
	async (set) => {
		for (const address of Object.values(ADDRESSES)) {
			const isOpen = address.type === 'chatEventsTrigger';
			for (const guess of [undefined, '', 'null', 'undefined', 'sesame']) {
				expect(address.letIn(await statusOf(address, { set, opens: null }, guess))).toBe(isOpen);
			}
		}
	},
);

test('a switch that is an expression, for which n8n drops the secret, opens the watch address to nobody', async () => {
	const address: Address = {
		...WATCHING,
		parameters: (watchSecret) => ({ watchSessions: '={{ true }}', watchSecret }),
	};
	for (const set of ['', 'sesame', '={{ null }}']) {
		for (const guess of [undefined, '', 'sesame']) {
			expect(await statusOf(address, { set, opens: null }, guess)).toBe(503);
		}
	}
});

test('neither does the place of the secret as an expression', async () => {
	const address: Address = {
		type: 'chatDeliveryTrigger',
		parameters: (secret) => ({ secretIn: '={{ "query" }}', secret }),
		request: (secret) => ({ query: given(secret) }),
		letIn: (status) => status === 200,
	};
	for (const set of ['', 'sesame', '={{ null }}']) {
		for (const guess of [undefined, '', 'sesame']) {
			expect(await statusOf(address, { set, opens: null }, guess)).toBe(403);
		}
	}
});

describe.each(Object.entries(ADDRESSES))('%s', (_name, address) => {
	test('opens to the secret alone, whatever its field or expression gives', async () => {
		const counts = { requests: 0, let_in: 0, without_a_usable_secret: 0 };
		const property = fc.asyncProperty(
			settings,
			guesses,
			fc.boolean(),
			async (setting, guess, isOwner) => {
				const sent = isOwner && setting.opens !== null ? setting.opens : guess;
				const letIn = address.letIn(await statusOf(address, setting, sent));
				counts.requests++;
				counts.let_in += Number(letIn);
				counts.without_a_usable_secret += Number(setting.opens === null);
				const fits =
					setting.opens !== null && String(sent) === setting.opens && typeof sent !== 'object';
				expect(letIn).toBe(fits);
			},
		);
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(counts.let_in).toBeGreaterThan(0);
		printCounts('Secrets', counts);
	});
});
