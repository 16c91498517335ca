/** Text with expressions: n8n inserts an object as "[object Object]", so the node stops. */
import type { IDataObject, INodeParameters, NodeParameterValueType } from 'n8n-workflow';
import { isJsonObject } from '../../nodes/core/values/json';
import { agent } from '../contract/contractCase';
import { simulatedNodes } from '../contract/simulatedNodes';
import { runNode } from '../engine';
import { fixtures } from '../simulator';

const { simulator, nodeOf } = simulatedNodes();

const sessionId = fixtures.sessions.open;
const context = (text: string): INodeParameters => ({ sessionId, context: text });
const row = { name: 'Asha', person: { name: 'Asha' }, said: 'It shows [object Object]' };

async function run(type: string, parameters: INodeParameters, json: IDataObject = row) {
	const { data } = await runNode(await nodeOf(type, parameters), [{ json }]);
	const sent = simulator().requests.map(({ query, body }) => ({
		...query,
		...(isJsonObject(body) && body),
	}));
	return { message: data.resultData.error?.message, sent };
}

test.each([
	['an object', '=Wants {{ $json.person }}', 'Wants [object Object]'],
	['an invalid date', '=Due {{ DateTime.fromISO("soon") }}', 'Due Invalid DateTime'],
	['the text of another node', '={{ $json.said }}', 'It shows [object Object]'],
])(
	'%s within a text stops the node and the message names the field',
	async (_description, text, shown) => {
		const { message, sent } = await run('injectContext', context(text));
		expect(message).toBe(
			`'Context' must be text without objects and invalid dates (got "${shown}")`,
		);
		expect(sent).toEqual([]);
	},
);

// No person hears a context, and a customer may write about code.
test.each(['It shows [object Object]', 'It shows {{ $json.name }} and {{name}}'])(
	'%j is sent if it is entered in the field',
	async (text) => {
		const { message, sent } = await run('injectContext', context(text));
		expect(message).toBeUndefined();
		expect(sent).toEqual([{ context: text }]);
	},
);

const details = (additionalBodyFields: NodeParameterValueType): INodeParameters => ({
	...{
		operation: 'place',
		whatToDo: 'place',
		...agent(),
		countryCode: 'IN',
		phoneNumber: '9876543210',
	},
	options: { additionalBodyFields },
});

test.each([
	['NaN', '={{ ({ plan: { price: 1 * "x" } }) }}'],
	['an infinite number', '={{ ({ plan: [1 / 0] }) }}'],
	['an invalid date', '={{ ({ due: new Date("soon") }) }}'],
])('%s within JSON stops the node, because it would be sent as null', async (_what, json) => {
	const { message, sent } = await run('placeCall', details(json));
	expect(message).toMatch(/^'Additional Body Fields' in 'Options' must be JSON/);
	expect(sent).toEqual([]);
});
