# SPDX-License-Identifier: GPL-3.0-or-later
# Part of the Makefile: manual pages, completion, installing, and what a release is made of.

# Made of the programs' own tables of options.
MANUAL := $(B)/manual
$(MANUAL)/made: $(PROGRAMS) runs/nht1/manual.py config/programs.conf
	$(call say,MAN)
	$(Q)rm -rf $(MANUAL) && PYTHONPATH=runs NHT1_BIN=$(abspath $(B)/bin) python3 -B -m nht1.manual $(MANUAL) $(PROGRAMS) && touch $@
man: $(MANUAL)/made ## manual pages and completion for bash, into build/manual

# Programs look for their data beside the folder that they are in.
PLACES = DESTDIR='$(DESTDIR)' BINDIR='$(BINDIR)' LIBDIR='$(LIBDIR)' MANDIR='$(MANDIR)' \
          DOCDIR='$(DOCDIR)' DATADIR='$(dir $(BINDIR))share/nht1' \
          COMPLETIONS='$(PREFIX)/share/bash-completion/completions' \
          SHARE='$(SHARE)' PROGRAMS='$(PROGRAMS)' LIBRARIES='$(PROFILE_LIB) $(FORMAT_LIBS) $(VERIFY_PLUGINS)' MANUAL='$(MANUAL)' bash config/install.sh
install: all man ## into $(DESTDIR)$(PREFIX); also BINDIR, LIBDIR, MANDIR, DOCDIR
	@$(PLACES) install
uninstall: ## remove what make install with the same settings has put there
	@$(PLACES) uninstall

# What a copy without git has in addition: .build, git's word for this state of the sources.
DIST := $(B)/nht1-$(VERSION).tar.gz
dist: ## build/nht1-VERSION.tar.gz of what is committed
	@mkdir -p $(B) && printf '%s\n' '$(BUILD:%-dirty=%)' >$(B)/.build
	$(Q)git archive --prefix=nht1-$(VERSION)/ --add-file=$(B)/.build -o $(DIST) HEAD
	@echo $(DIST)

# Its version is that of config/debian/changelog; dpkg-buildpackage looks for the recipe in debian/.
DEB := $(B)/deb
deb: dist ## build/deb/*.deb of what is committed, by dpkg-buildpackage
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB) && tar xzf $(DIST) -C $(DEB) && \
	    cp -R $(DEB)/nht1-$(VERSION)/config/debian $(DEB)/nht1-$(VERSION)/debian && \
	    cp $(DIST) $(DEB)/nht1_$(VERSION).orig.tar.gz
	$(Q)cd $(DEB)/nht1-$(VERSION) && env -u MAKEFLAGS -u MFLAGS dpkg-buildpackage -b -us -uc
	@ls $(DEB)/*.deb
