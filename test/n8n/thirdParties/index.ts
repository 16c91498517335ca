/** The services that the example workflows use, behind a proxy that rejects every other host. */
import fastify, { type FastifyInstance } from 'fastify';
import { HostProxy, prepareProxy, type ProxySettings } from '../hostProxy';
import { Gmail } from './gmail';
import { Hubspot } from './hubspot';
import { Salesforce } from './salesforce';
import { Sheets } from './sheets';
import { SignIn } from './signIn';
import { Slack } from './slack';
import { Zoho } from './zoho';

const HOSTS = [
	'oauth2.googleapis.com',
	'sheets.googleapis.com',
	'www.googleapis.com',
	'slack.com',
	'api.hubapi.com',
	'accounts.zoho.com',
	'www.zohoapis.com',
	'login.salesforce.com',
	'example.my.salesforce.com',
];

/** Call it before n8n starts. */
export const prepareThirdParties = async (folder: string) => await prepareProxy(folder, HOSTS);

export class ThirdParties {
	readonly signIn = new SignIn('/token');
	readonly sheets = new Sheets(this.signIn);
	readonly gmail = new Gmail(this.signIn);
	readonly slack = new Slack();
	readonly hubspot = new Hubspot();
	readonly zoho = new Zoho();
	readonly salesforce = new Salesforce();
	private readonly proxy = new HostProxy(HOSTS);
	private readonly services: FastifyInstance;

	constructor(private readonly settings: ProxySettings) {
		const { cert, key } = settings;
		this.services = fastify({ https: { cert, key }, forceCloseConnections: true });
	}

	async start(): Promise<void> {
		const { signIn, sheets, gmail, slack, hubspot, zoho, salesforce, services } = this;
		for (const { routes } of [signIn, sheets, gmail, slack, hubspot, zoho, salesforce])
			await services.register(routes);
		const url = await services.listen({ host: '127.0.0.1', port: 0 });
		await this.proxy.start(this.settings.port, Number(new URL(url).port));
	}

	/** Hosts that the proxy rejected. */
	get rejected(): string[] {
		return this.proxy.rejected;
	}

	/** Deletes everything that was sent. */
	reset(): void {
		this.sheets.reset();
		this.gmail.mails.length = 0;
		this.slack.messages.length = 0;
		this.hubspot.contacts.clear();
		this.zoho.leads.clear();
		this.salesforce.leads.clear();
	}

	async stop(): Promise<void> {
		await this.proxy.stop();
		await this.services.close();
	}
}
