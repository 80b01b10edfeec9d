// Which managed memory moves between host and device.

#include "server/migrations.hpp"
#include "device/fake_device.hpp"
#include "device/fresh_memory.hpp"
#include "judge/catch.hpp"

using namespace warpgrade::server;

namespace {

constexpr std::uint64_t page = Migrations::page_bytes;

// Two pages and a bit of unused managed memory.
struct Managed {
    testing::FakeDevice device;
    DevicePtr address = device.allocate(2 * page + 100, {"cudaMallocManaged"});
    Migrations migrations{device};
    Managed() {
        device.fill(address, fresh_byte, 2 * page + 100);
        migrations.add(address, 2 * page + 100);
    }
    void host_writes(std::uint64_t offset) {
        const std::byte byte{++value};
        device.write(address + offset, {&byte, 1});
    }
    void device_uses(std::uint64_t offset, std::uint64_t bytes, MemoryUse use = MemoryUse::read) {
        migrations.find_host_writes();
        if (use == MemoryUse::write)
            host_writes(offset);  // its bytes change between find_host_writes() and record_accesses()
        const MemoryAccess access{address + offset, bytes, use};
        migrations.record_accesses({&access, 1});
    }
    unsigned char value = 0;
};

nlohmann::json moved(std::uint64_t pages, std::uint64_t bytes) { return {{"pages", pages}, {"bytes", bytes}}; }

}  // namespace

TEST_CASE_METHOD(Managed, "pages that the host has written move to the device, once") {
    host_writes(0), host_writes(2 * page);
    device_uses(0, 2 * page + 100);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(2, page + 100)}});
    device_uses(0, 2 * page + 100, MemoryUse::write);
    device_uses(0, 2 * page + 100);
    CHECK(migrations.take().empty());
}

TEST_CASE_METHOD(Managed, "pages that the host writes again go there and back") {
    device_uses(0, 1), device_uses(page, 1);
    host_writes(page + 7);
    device_uses(0, 1);
    CHECK(migrations.take() == nlohmann::json{{"to_host", moved(1, page)}});
    device_uses(2 * page - 1, 2);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(1, page)}});
}

TEST_CASE_METHOD(Managed, "prefetches are counted as such, and only what moves") {
    host_writes(0);
    migrations.prefetch(address, 2 * page, true);
    device_uses(0, 2 * page);
    CHECK(migrations.take() == nlohmann::json{{"prefetched_to_device", moved(1, page)}});
    migrations.prefetch(address, 2 * page + 100, false);
    CHECK(migrations.take() == nlohmann::json{{"prefetched_to_host", moved(2, 2 * page)}});
    device_uses(0, 1);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(1, page)}});
}

TEST_CASE_METHOD(Managed, "addresses that are not managed count nothing") {
    migrations.prefetch(address + 2 * page + 100, 1, true);
    migrations.prefetch(address, ~std::uint64_t{0}, true);
    const MemoryAccess outside{1, 100, MemoryUse::write};
    migrations.record_accesses({&outside, 1});
    migrations.remove(address);
    host_writes(0);
    device_uses(0, 1);
    CHECK(migrations.take().empty());
}

TEST_CASE_METHOD(Managed, "pages that nobody has used cost nothing to move, and then lie where they went") {
    migrations.prefetch(address, page, true);
    migrations.prefetch(address + page, 1, false);
    CHECK(migrations.take().empty());
    host_writes(5);
    device_uses(0, page + 1);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(2, 2 * page)}, {"to_host", moved(1, page)}});
}

TEST_CASE_METHOD(Managed,
                 "what the device only reads lies where its bytes are known, what it writes is looked at anew") {
    device_uses(0, 1);
    host_writes(9);
    device_uses(0, 1, MemoryUse::atomic);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(1, page)}, {"to_host", moved(1, page)}});
    migrations.find_host_writes();
    migrations.find_host_writes();
    CHECK(migrations.take().empty());
}

TEST_CASE_METHOD(Managed, "an access counts for the pages that it touches, to the byte") {
    host_writes(0), host_writes(page), host_writes(2 * page);
    device_uses(2 * page + 100, 1);
    device_uses(page, 0);
    CHECK(migrations.take().empty());
    device_uses(page, page);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(1, page)}});
    device_uses(2 * page + 99, ~std::uint64_t{0});
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(1, 100)}});
    migrations.clear();
    host_writes(0);
    device_uses(0, 1);
    CHECK(migrations.take().empty());
}

TEST_CASE("a device that keeps origins is not looked at") {
    class Keeping : public testing::FakeDevice {
      public:
        bool keeps_origin() const override { return true; }
    } device;
    const DevicePtr address = device.allocate(page, {"cudaMallocManaged"});
    Migrations migrations(device);
    migrations.add(address, page);
    migrations.find_host_writes();
    const MemoryAccess access{address, 1, MemoryUse::read};
    migrations.record_accesses({&access, 1});
    CHECK(migrations.take().empty());
}

TEST_CASE("pages are of 64 KiB, the last one what is left") {
    testing::FakeDevice device;
    const DevicePtr address = device.allocate(131073, {"cudaMallocManaged"});
    Migrations migrations(device);
    migrations.add(address, 131073);
    migrations.find_host_writes();  // nothing is fresh: the host has written all of it
    const MemoryAccess all{address, 131073, MemoryUse::read};
    migrations.record_accesses({&all, 1});
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(3, 131073)}});
}

TEST_CASE("four GiB are looked at in one program, and not a byte more") {
    class Blank : public testing::FakeDevice {
      public:
        using FakeDevice::read;
        void read(DevicePtr /*source*/, std::span<std::byte> /*destination*/) override {}
    } device;
    constexpr DevicePtr address = 1 << 20;
    constexpr std::uint64_t bytes = 1 << 28;
    Migrations migrations(device);
    for (int i = 0; i < 16; ++i) {
        CHECK_FALSE(migrations.is_over_limit());
        migrations.clear();
        migrations.add(address, bytes);
        migrations.find_host_writes();
    }
    CHECK_FALSE(migrations.is_over_limit());
    const MemoryAccess first{address, 1, MemoryUse::read}, second{address + 65536, 1, MemoryUse::read};
    migrations.record_accesses({&first, 1});
    CHECK(migrations.is_over_limit());
    migrations.record_accesses({&second, 1});
    migrations.prefetch(address + 65536, 1, true);
    CHECK(migrations.take() == nlohmann::json{{"to_device", moved(1, page)}});
}
