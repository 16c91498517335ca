import { NodeOperationError } from 'n8n-workflow';
import { asCanceled, canceledError, WHY_CANCELED } from '../../../../nodes/host/execution/cancel';
import { executeContext, makeNode, setupEngine } from '../../../engine';

beforeAll(setupEngine);

describe('the error of a stopped execution', () => {
	const context = executeContext(makeNode({ type: 'test.sink' }), [{ json: {} }]);

	test.each([undefined, null])('leaves out a description that is %s', (empty) => {
		const error = new NodeOperationError(context.getNode(), 'The connection was lost');
		error.description = empty;
		expect(asCanceled(context, error).description).toBe(`${WHY_CANCELED} The connection was lost.`);
	});

	test('stays unchanged if it is canceled already', () => {
		const error = canceledError(context);
		expect(asCanceled(context, error)).toBe(error);
	});
});
