import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import {
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
} from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/resolution';
import { ChatEnded } from '../../../../../nodes/shared/chat/reconnectPolicy';
import { toNodeError } from '../../../../../nodes/shared/n8n/run/nodeErrors';
import { makeNode } from '../../../../engine';

const node = makeNode({ type: 'test.sink' });
const SECOND = { itemIndex: 1, of: 3 };

describe("n8n's own error", () => {
	test.each([
		['NodeOperationError', () => new NodeOperationError(node, 'It broke')],
		['NodeApiError', () => new NodeApiError(node, { httpCode: '500' }, { message: 'It broke' })],
	])('%s stays unchanged, and gets its item index', (_name, make) => {
		const error = make();
		expect(toNodeError(node, error)).toBe(error);
		expect(error.context.itemIndex).toBeUndefined();
		expect(toNodeError(node, error, SECOND)).toBe(error);
		expect(error.context.itemIndex).toBe(1);
	});
});

test.each<[string, unknown, object]>([
	[
		'a field',
		new InvalidInput('It is empty', forEveryone('Fill it in.')),
		{ message: 'It is empty [item 1]', description: 'Fill it in.' },
	],
	[
		'a rejection, with its status',
		new ServiceRejection({ message: 'Rejected', resolution: forEveryone('Mend it.') }, 'no', 422, {
			texts: ['no'],
			body: {},
		}),
		{ message: 'Rejected [item 1]', httpCode: '422' },
	],
	[
		'an unclear response, with its status',
		new OutcomeUnknown('It broke', forEveryone('Look.'), {
			originalMessage: '<html>',
			status: 502,
			origin: 'response',
		}),
		{ message: 'It broke [item 1]', httpCode: '502' },
	],
	[
		'what n8n would show as HTML',
		new ServiceRejection(
			{ message: 'No <b>', resolution: forEveryone('Mend it.') },
			'<img src=x>',
			422,
			{
				texts: [],
				body: {},
			},
		),
		{
			message: 'No ‹b> [item 1]',
			description: 'Mend it. The service said: ‹img src=x>.',
		},
	],
	[
		'the end of a chat session',
		new ChatEnded('mint_rejected', { message: 'No token', resolution: forEveryone('Look.') }),
		{ name: 'NodeOperationError', message: 'No token [item 1]' },
	],
	['a defect', new TypeError('x is undefined'), { message: 'x is undefined' }],
	['a word', 'odd', { message: 'odd' }],
])('%s: the error of n8n has its item', (_what, error, expected) => {
	expect(toNodeError(node, error, SECOND)).toMatchObject({
		...expected,
		context: { itemIndex: 1 },
	});
});

test('a message does not name the only item', () => {
	const error = new InvalidInput('It is empty', forEveryone('Fill it in.'));
	expect(toNodeError(node, error, { itemIndex: 0, of: 1 }).message).toBe('It is empty');
	expect(toNodeError(node, error)).toMatchObject({ message: 'It is empty' });
	expect(toNodeError(node, error).context.itemIndex).toBeUndefined();
});
