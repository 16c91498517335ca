/** What the settings of webhook triggers accept, when the workflow is published and when a request arrives. */
import fc from 'fast-check';
import type { IDataObject, INodeParameters, NodeParameterValueType } from 'n8n-workflow';
import { activate, engineHarness, makeWorkflow, nodeTypes, webhookContext } from '../engine';
import { MANY_RUNS, TIMEOUT_MS } from './runs';

/** The value of the Secret field, and the text that is accepted. Null if no text is accepted. */
type Setting = { set: NodeParameterValueType; accepts: string | null };

jest.setTimeout(TIMEOUT_MS);

const harness = engineHarness();

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
	'an empty field (%j) accepts all requests, or none if the secret is required',
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
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(accepted).toBeGreaterThan(0);
	},
);

describe.each(Object.values(SECRET_URLS))('$type', ({ type, parameters }) => {
	test.each([
		['={{ null }}', /'Secret' (is empty|must be text or a number \(got nothing\))/],
		['  ', /'Secret' (is empty|must be text or a number \(got an empty text\))/],
	])('is not published with the secret %j', async (secret, message) => {
		const node = harness.node(type, { parameters: parameters(secret) });
		await expect(activate(makeWorkflow([node]))).rejects.toThrow(message);
	});
});

test.each([
	[{ sessions: 'watched', watchSecret: '' }, /'Secret' is empty|Secret.* is required/],
	// n8n then drops the secret.
	[
		{ sessions: '={{ "watched" }}', watchSecret: 'x' },
		/'Sessions' must be a value without expressions/,
	],
])('Chat Events Trigger is not published with %j', async (parameters, message) => {
	const node = harness.node(WATCHING.type, { parameters });
	await expect(activate(makeWorkflow([node]))).rejects.toThrow(message);
});
