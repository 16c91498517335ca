import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { TestCredentialsHelper } from '../engine/credentialsHelper';
import { makeNode, runNode, setupEngine } from '../engine/engine';
import { PACKAGE } from '../engine/nodeTypes';

/** A local HTTP server without nock, because nock replaces Node's http and with it how a body arrives and ends. */
export type LocalServer = {
	baseUrl(): string;
	/** Runs a node of the package with this server and a number of items. */
	run(type: string, parameters: INodeParameters, items?: number): Promise<IRun>;
};

const isAddress = (address: unknown): address is AddressInfo => typeof address === 'object';

/** Starts an HTTP server for the tests of a file. Nodes don't wait between attempts. */
export function localServer(listener: RequestListener): LocalServer {
	const credentials = new TestCredentialsHelper();
	const server = createServer(listener);
	let waits: jest.SpyInstance;
	beforeAll(async () => {
		await setupEngine();
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	});
	afterAll(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	beforeEach(() => {
		waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
	});
	afterEach(() => waits.mockRestore());

	const baseUrl = (): string => {
		const address = server.address();
		return `http://127.0.0.1:${isAddress(address) ? address.port : 0}`;
	};
	return {
		baseUrl,
		run: async (type, parameters, items = 1) => {
			const apiToken = 'tok-0123456789ab';
			const details = await credentials.add(CREDENTIAL, { baseUrl: baseUrl(), apiToken });
			const node = makeNode({
				type: `${PACKAGE}.${type}`,
				name: 'Node',
				parameters,
				credentials: { [CREDENTIAL]: details },
			});
			const input = Array.from({ length: items }, () => ({ json: {} }));
			return await runNode(credentials, node, input);
		},
	};
}
