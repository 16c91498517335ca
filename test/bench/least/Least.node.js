const pLimit = require('p-limit');

const CREDENTIAL = 'voiceChatAgentApiTokenApi';

/** A minimal node: sends requests with n8n's HTTP helper and a concurrency limit. */
exports.Least = class {
	description = {
		displayName: 'Least',
		name: 'least',
		group: ['transform'],
		version: 1,
		description: 'Sends a request for each item',
		defaults: { name: 'Least' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: [
			{ displayName: 'Address', name: 'url', type: 'string', default: '' },
			{ displayName: 'Call', name: 'call', type: 'json', default: '' },
			{ displayName: 'At Once', name: 'atOnce', type: 'number', default: 1 },
		],
	};

	async execute() {
		const data = await this.getCredentials(CREDENTIAL);
		const credentialsDecrypted = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
		const [url, call, atOnce] = ['url', 'call', 'atOnce'].map((name) =>
			this.getNodeParameter(name, 0),
		);
		const requestFor = ({ json }) =>
			call === ''
				? { method: 'GET', url: `${url}/${json.id}` }
				: { method: 'POST', url, body: { ...JSON.parse(call), phone_number: json.phone } };
		const limit = pLimit(atOnce);
		const send = async (item, index) => {
			const json = await this.helpers.httpRequestWithAuthentication.call(
				this,
				CREDENTIAL,
				{ ...requestFor(item), json: true },
				{ credentialsDecrypted },
			);
			return { json, pairedItem: { item: index } };
		};
		return [await Promise.all(this.getInputData().map((item, index) => limit(send, item, index)))];
	}
};
