import { NodeOperationError } from 'n8n-workflow';
import {
	asCanceled,
	canceledError,
	WHY_CANCELED,
} from '../../../../../nodes/shared/n8n/run/cancel';
import { executeContext, makeNode, setupEngine } from '../../../../engine';

beforeAll(setupEngine);

test.each([
	['Look at the conversation', 'The connection was lost. Look at the conversation.'],
	[undefined, 'The connection was lost.'],
	[null, 'The connection was lost.'],
])('the error of a stopped execution says what failed, with the description %s', (given, said) => {
	const context = executeContext(makeNode({ type: 'test.sink' }), []);
	const error = new NodeOperationError(context.getNode(), 'The connection was lost');
	error.description = given;
	const canceled = asCanceled(context, error);
	expect(canceled.message).toBe('The execution was canceled');
	expect(canceled.description).toBe(`${WHY_CANCELED} ${said}`);
	expect(asCanceled(context, canceled)).toBe(canceled);
	expect(canceledError(context).description).toBe(WHY_CANCELED);
});
