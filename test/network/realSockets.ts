import { inspect } from 'node:util';
import type {
	ICredentialDataDecryptedObject,
	INode,
	INodeParameters,
	INodeExecutionData,
	IRun,
} from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { storedCredentials } from '../engine/credentialsHelper';
import { makeNode, runNode, setupEngine } from '../engine/engine';
import { PACKAGE } from '../engine/nodeTypes';
import { useNoWaits } from '../engine/time';

const TOKEN = 'tok-0123456789ab';

/** A node of the package, such as `placeCall`, that sends its requests to this URL. */
export type Run = (
	baseUrl: string,
	type: string,
	parameters: INodeParameters,
	input: INodeExecutionData[],
	overrides?: Partial<INode>,
	credential?: ICredentialDataDecryptedObject,
) => Promise<IRun>;

/**
 * Runs nodes in n8n's engine with real sockets. Without nock, because it replaces Node's http, and with it how a request
 * is sent and a response arrives. Nodes don't wait between attempts.
 */
export function realSockets(): Run {
	beforeAll(setupEngine);
	useNoWaits();

	return async (baseUrl, type, parameters, input, overrides, credential) => {
		const data = { baseUrl, apiToken: TOKEN, moreSettings: true, ...credential };
		const details = await storedCredentials.add(CREDENTIAL, data);
		const node = makeNode({
			type: `${PACKAGE}.${type}`,
			name: 'Node',
			parameters,
			credentials: { [CREDENTIAL]: details },
			...overrides,
		});
		const result = await runNode(node, input);
		const printed = inspect(result, { depth: Infinity });
		if (printed.includes(TOKEN)) throw new Error('The run contains the API token');
		return result;
	};
}
